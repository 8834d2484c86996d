"""A chat-app provider of another hand, with Python's standard library alone: what WhatsApp's Cloud API documents at the end of 2026.

It reads one line of JSON (callback, verify_token, app_secret), makes the verify challenge, and prints one line of JSON for each
send that it takes. Further lines are what customers do: {"says": text, "answers": id of a message of ours}.
"""

import hashlib
import hmac
import json
import sys
import threading
import time
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NUMBER, NUMBER_ID, BUSINESS, TOKEN = "15550009999", "7770009999", "8880009999", "python-token"
USER_ID = "IN.13491208655302741918"
UNPAID = "919876540042"
TEMPLATE = {
    "id": "1689556908129832", "name": "order_update", "language": "en_US", "status": "APPROVED", "category": "UTILITY",
    "parameter_format": "POSITIONAL", "quality_score": {"score": "GREEN", "date": 1758754645}, "rejected_reason": "NONE",
    "components": [{"type": "BODY", "text": "Hi {{1}}, order {{2}} has left.", "example": {"body_text": [["Asha", "1"]]}}],
}
app = {}
sent = 0


def now():
    return str(int(time.time()))


def post(value, field="messages"):
    """Posts one change, signed over its bytes. What is not answered with 200 is an error that ends the process."""
    metadata = {"display_phone_number": NUMBER, "phone_number_id": NUMBER_ID}
    value = {"messaging_product": "whatsapp", "metadata": metadata, "a_field_of_next_year": {"x": [1]}, **value}
    entry = {"id": BUSINESS, "time": int(now()), "changes": [{"field": field, "value": value}]}
    body = json.dumps({"object": "whatsapp_business_account", "entry": [entry]}, ensure_ascii=False).encode()
    signature = hmac.new(app["app_secret"].encode(), body, hashlib.sha256).hexdigest()
    headers = {"Content-Type": "application/json", "X-Hub-Signature-256": "sha256=" + signature}
    with urllib.request.urlopen(urllib.request.Request(app["callback"], body, headers)) as answer:
        assert answer.status == 200, answer.status


def status(message_id, to, name, **more):
    """No `conversation`, a `pricing` by message, and the id that every person has since April 2026."""
    return {"id": message_id, "status": name, "timestamp": now(), "recipient_id": to, "recipient_user_id": USER_ID, **more}


def tell(message_id, to):
    price = {"billable": True, "pricing_model": "PMP", "type": "regular", "category": "utility"}
    if to == UNPAID:
        error = {"code": 131042, "title": "Business eligibility payment issue", "message": "payment",
                 "error_data": {"details": "Message failed to send because of a payment method."}}
        post({"statuses": [{"id": message_id, "status": "failed", "timestamp": now(), "recipient_id": to, "errors": [error]}]})
        return
    post({"statuses": [status(message_id, to, "delivered", pricing=price), status(message_id, to, "sent", pricing=price)]})
    post({"statuses": [status(message_id, to, "a_status_of_next_year")]})


class Provider(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, code, body):
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, code, message):
        self.answer(400, {"error": {"message": message, "type": "OAuthException", "code": code, "fbtrace_id": "A1"}})

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path).path
        if path.endswith(f"/{BUSINESS}/message_templates"):
            self.answer(200, {"data": [TEMPLATE], "paging": {"cursors": {"before": "a", "after": "b"}}})
        else:
            self.answer(200, {"id": NUMBER_ID, "health_status": {"can_send_message": "BLOCKED"}})

    def do_POST(self):
        global sent
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        wanted = {"messaging_product": "whatsapp", "recipient_type": "individual"}
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            return self.refuse(190, "Invalid OAuth access token")
        if not self.path.endswith(f"/{NUMBER_ID}/messages") or not wanted.items() <= body.items():
            return self.refuse(100, "Invalid parameter")
        if body["type"] == "template" and [len(c["parameters"]) for c in body["template"]["components"]] != [2]:
            return self.refuse(132000, "Number of parameters does not match the expected number of params")
        to = body.get("to", "").lstrip("+") or body["recipient"]
        sent += 1
        message_id = f"wamid.python.{sent}"
        contact = {"input": body.get("to", to), "user_id": USER_ID}
        self.answer(200, {**wanted, "contacts": [contact], "messages": [{"id": message_id, "message_status": "accepted"}]})
        print(json.dumps({"id": message_id, "to": to, "type": body["type"]}), flush=True)
        threading.Timer(0.05, tell, [message_id, to]).start()


server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"port": server.server_port}), flush=True)
app.update(json.loads(sys.stdin.readline()))
query = {"hub.mode": "subscribe", "hub.verify_token": app["verify_token"], "hub.challenge": "1158201444"}
with urllib.request.urlopen(f"{app['callback']}?{urllib.parse.urlencode(query)}") as challenge:
    assert challenge.read() == b"1158201444"
print(json.dumps({"verified": True}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    said = {"from_user_id": USER_ID, "id": "wamid.python.in", "timestamp": now(), "type": "text",
            "text": {"body": asked["says"]}, "context": {"from": NUMBER, "id": asked["answers"]}}
    profile = {"name": "Asha", "username": "@asha.rao"}
    post({"contacts": [{"profile": profile, "user_id": USER_ID}], "messages": [said]})
