import { code, codeBlock, prose } from './html.ts';
import { LANGUAGES } from './samples.ts';

/** The clients of scripts/clients. A test runs both programs (test/peers/clients/clients.test.ts). */
export const CLIENTS_PAGE = {
  path: '/docs/clients',
  title: 'Clients for TypeScript and Python',
  name: 'Clients',
  html: `<div class="prose"><p>For TypeScript and Python there is a client with a call for each endpoint, named there (in Python <code>sendBulk</code> is <code>send_bulk</code>); ask your service provider for the package. It sends again what may be sent again, with the same <code>Idempotency-Key</code>, walks through lists page by page, throws problems with their <code>code</code> and <code>errors</code>, and verifies webhooks. A third package, <code>harkara-mcp</code>, gives agents the account over the Model Context Protocol: read-only, or what a person agrees to.</p></div>
${sample(
  'npm install ./harkara-*.tgz',
  `import { env } from 'node:process';
import { Harkara, verifyWebhook } from 'harkara';

const harkara = new Harkara({ url: env.HARKARA_URL ?? '', key: env.HARKARA_KEY ?? '' });
const sent = await harkara.sms.send({ to: '919876543210', message: 'Your order has left.', sender: 'HARKRA' });
for await (const message of harkara.messages.list({ to: sent.to })) {
  console.log(message.message_id, message.status);
}

async function received(body: string, headers: Headers): Promise<void> {
  const event = await verifyWebhook(body, headers, env.HARKARA_WEBHOOK_SECRET ?? '');
  if (event.event === 'message.delivered') console.log(event.message_id, event.delivered_at);
}`,
)}
${sample(
  'pip install ./harkara-*.whl',
  `import os
from harkara import Harkara, verify_webhook

harkara = Harkara(url=os.environ["HARKARA_URL"], key=os.environ["HARKARA_KEY"])
sent = harkara.sms.send(to="919876543210", message="Your order has left.", sender="HARKRA")
for message in harkara.messages.list(to=sent["to"]):
    print(message["message_id"], message["status"])


def received(body: bytes, headers: dict[str, str]) -> None:
    event = verify_webhook(body, headers, os.environ["HARKARA_WEBHOOK_SECRET"])
    if event["event"] == "message.delivered":
        print(event["message_id"], event["delivered_at"])`,
)}`,
};

/** A page for each language: sending and receiving. Samples of other requests are shown at their operations. */
interface Guide {
  readonly path: string;
  readonly language: keyof typeof LANGUAGES;
  /** Requirements, and how a sample is run. */
  readonly needs: string;
  /** A program that receives events. Absent if the language cannot listen. */
  readonly receiver?: Receiver;
}

interface Receiver {
  readonly file: string;
  readonly start: string;
  readonly text: string;
}

/**
 * Receivers verify as Standard Webhooks says: HMAC-SHA256 with the secret's bytes over `<id>.<timestamp>.<body as
 * received>`, compared in constant time with each signature (two while a secret is replaced), at most five minutes old.
 * test/peers/docs/guides.test.ts runs them.
 */
export const GUIDES: readonly Guide[] = [
  {
    path: '/docs/curl',
    language: 'curl',
    needs:
      'Any shell. curl cannot take events: `npm run listen -- http://localhost:8080/hook` posts them to a program on your machine, signed, without a public address.',
  },
  {
    path: '/docs/node',
    language: 'Node.js',
    needs: 'Node 20, no package. Save a sample as `sample.mjs`; run `node sample.mjs`.',
    receiver: {
      file: 'hook.mjs',
      start: 'node hook.mjs',
      text: `import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { env } from 'node:process';

const secret = Buffer.from(env.HARKARA_WEBHOOK_SECRET.replace('whsec_', ''), 'base64');

function isGenuine(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signatures = '' } = headers;
  const expected = createHmac('sha256', secret).update(id + '.' + at + '.').update(body).digest();
  const given = signatures.split(' ').map((one) => Buffer.from(one.replace('v1,', ''), 'base64'));
  const isNew = Math.abs(Date.now() / 1000 - Number(at)) < 300;
  return isNew && given.some((one) => one.length === expected.length && timingSafeEqual(one, expected));
}

createServer(async (req, res) => {
  const body = Buffer.concat(await req.toArray());
  if (!isGenuine(req.headers, body)) return res.writeHead(400).end();
  res.writeHead(204).end(); // First answer, then work. Ignore ids that you have seen.
  const event = JSON.parse(body);
  console.log(event.event, event.message_id);
}).listen(env.PORT ?? 8080);`,
    },
  },
  {
    path: '/docs/python',
    language: 'Python',
    needs: 'Python 3.8 and `pip install requests`. Save a sample as `sample.py`; run `python3 sample.py`.',
    receiver: {
      file: 'hook.py',
      start: 'python3 hook.py',
      text: `import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

secret = base64.b64decode(os.environ["HARKARA_WEBHOOK_SECRET"].replace("whsec_", ""))


def is_genuine(headers, body):
    at = headers.get("webhook-timestamp", "0")
    signed = f"{headers.get('webhook-id')}.{at}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest())
    given = headers.get("webhook-signature", "").encode().split(b" ")
    return any(hmac.compare_digest(one, expected) for one in given) and abs(time.time() - int(at)) < 300


class Hook(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        genuine = is_genuine(self.headers, body)
        self.send_response(204 if genuine else 400)
        self.end_headers()
        if genuine:  # First answer, then work. Ignore ids that you have seen.
            event = json.loads(body)
            print(event["event"], event.get("message_id"), flush=True)


ThreadingHTTPServer(("", int(os.environ.get("PORT", 8080))), Hook).serve_forever()`,
    },
  },
  {
    path: '/docs/php',
    language: 'PHP',
    needs: 'PHP 8 without extensions. Save a sample as `sample.php`; run `php sample.php`.',
    receiver: {
      file: 'hook.php',
      start: 'php -S 0.0.0.0:8080 hook.php',
      text: `<?php
$secret = base64_decode(str_replace('whsec_', '', getenv('HARKARA_WEBHOOK_SECRET')));
$body = file_get_contents('php://input');
[$id, $at, $signatures] = array_map(
    fn($name) => $_SERVER["HTTP_WEBHOOK_$name"] ?? '',
    ['ID', 'TIMESTAMP', 'SIGNATURE'],
);

$expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$at.$body", $secret, true));
$isNew = abs(time() - (int) $at) < 300;
$isSigned = array_filter(explode(' ', $signatures), fn($one) => hash_equals($expected, $one)) !== [];
if (!$isNew || !$isSigned) {
    http_response_code(400);
    exit();
}
http_response_code(204); // Work that takes long belongs into a queue. Ignore ids that you have seen.
$event = json_decode($body, true);
error_log($event['event'] . ' ' . ($event['message_id'] ?? ''));`,
    },
  },
  {
    path: '/docs/java',
    language: 'Java',
    needs: 'Java 15, no library. Save a sample as `Sample.java`; run `java Sample.java`.',
    receiver: {
      file: 'Hook.java',
      start: 'java Hook.java',
      text: `import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class Hook {
    static final byte[] SECRET =
        Base64.getDecoder().decode(System.getenv("HARKARA_WEBHOOK_SECRET").replace("whsec_", ""));

    static boolean isGenuine(String id, String at, String signatures, byte[] body) throws Exception {
        if (id == null || at == null || signatures == null) return false;
        var mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(SECRET, "HmacSHA256"));
        mac.update((id + "." + at + ".").getBytes());
        var expected = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes();
        var isSigned = false;
        for (var one : signatures.split(" ")) isSigned |= MessageDigest.isEqual(one.getBytes(), expected);
        return isSigned && Math.abs(System.currentTimeMillis() / 1000 - Long.parseLong(at)) < 300;
    }

    public static void main(String[] args) throws Exception {
        var port = Integer.parseInt(System.getenv().getOrDefault("PORT", "8080"));
        var server = HttpServer.create(new InetSocketAddress(port), 0);
        server.createContext("/", exchange -> {
            var body = exchange.getRequestBody().readAllBytes();
            var headers = exchange.getRequestHeaders();
            var genuine = false;
            try {
                genuine = isGenuine(headers.getFirst("webhook-id"), headers.getFirst("webhook-timestamp"),
                    headers.getFirst("webhook-signature"), body);
            } catch (Exception refused) {
                // No number, or no such algorithm: not genuine.
            }
            exchange.sendResponseHeaders(genuine ? 204 : 400, -1);
            exchange.close();
            // First answer, then work. Ignore ids that you have seen.
            if (genuine) System.out.println(new String(body));
        });
        server.start();
    }
}`,
    },
  },
  {
    path: '/docs/go',
    language: 'Go',
    needs: 'Go 1.16, no module. Save a sample as `sample.go`; run `go run sample.go`.',
    receiver: {
      file: 'hook.go',
      start: 'go run hook.go',
      text: `package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

func isGenuine(headers http.Header, body []byte) bool {
	secret, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("HARKARA_WEBHOOK_SECRET"), "whsec_"))
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "%s.%s.%s", headers.Get("webhook-id"), headers.Get("webhook-timestamp"), body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	seconds, _ := strconv.ParseInt(headers.Get("webhook-timestamp"), 10, 64)
	if age := time.Since(time.Unix(seconds, 0)); age > 5*time.Minute || age < -5*time.Minute {
		return false
	}
	for _, one := range strings.Split(headers.Get("webhook-signature"), " ") {
		if hmac.Equal([]byte(one), expected) {
			return true
		}
	}
	return false
}

func main() {
	http.HandleFunc("/", func(answer http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		if !isGenuine(request.Header, body) {
			answer.WriteHeader(400)
			return
		}
		answer.WriteHeader(204)
		fmt.Println(string(body)) // Work that takes long belongs into a queue. Ignore ids that you have seen.
	})
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	panic(http.ListenAndServe(":"+port, nil))
}`,
    },
  },
];

/** Replaced by the page's script. */
const ORIGIN = 'http://127.0.0.1:3000';

export function guideHtml({ language, needs, receiver }: Guide): string {
  const print = LANGUAGES[language];
  const sent = print({
    method: 'post',
    path: '/v2/send',
    key: true,
    idempotencyKey: 'order-1234',
    body: { to: '919876543210', message: 'Your order has left.', sender: 'HARKRA' },
    answers: 'json',
  });
  const asked = print({ method: 'get', path: '/v2/status/MESSAGE_ID', key: true, answers: 'json' });
  return `<div class="prose"><p>${prose(needs)}</p><p>${prose('Address and key come from the environment:')}</p></div>
${sample('In your shell', `export HARKARA_URL=${ORIGIN}\nexport HARKARA_KEY=hk_live_…`).replace(ORIGIN, `<span id="origin">${ORIGIN}</span>`)}
<h2 id="send">Send a message</h2><p>${prose('With an `Idempotency-Key` the same request can be sent again after a lost answer: it is done once, and the second answer is that of the first. The next message needs another key; run again as it is, the sample sends nothing new.')}</p>${sample('Request', sent)}
<p>${prose('What is refused is answered in JSON too: `code` for your program, `detail` says what to do, `errors` names the fields (leave out `to` to see it). Send the same request again when no answer came, or when `retryable` is true, after `Retry-After` seconds; anything else does not get better by itself.')} <a href="/docs#problems">All errors</a>.</p>
<h2 id="status">Ask for its status</h2><p>${prose('Better: let the events come to you.')}</p>${sample('Request', asked)}
${receiver === undefined ? '' : receiverHtml(receiver)}<div class="prose"><p>All other requests, with samples in this language: <a href="/docs">HTTP API</a>.</p></div>`;
}

function receiverHtml({ file, start, text }: Receiver): string {
  const about =
    'Register its address on the dashboard under Webhooks, or with `POST /v2/account/webhooks`, which answers the secret. On your own machine `npm run listen -- http://localhost:8080/`, in a clone of the gateway, prints a secret and posts the events of the account to it, without a public address; `npm run listen -- trigger message.delivered http://localhost:8080/` posts an example.';
  return `<h2 id="events">Receive events</h2><p>${prose(about)}</p>${sample('In your shell', `export HARKARA_WEBHOOK_SECRET=whsec_…\n${start}`)}${sample(file, text)}<div class="prose"><p>Verify the bytes of the body as they came, before they are parsed. Answer 2xx within 15 seconds to every event, also to those that you do not know; ${code('webhook-id')} is the same on every attempt.</p></div>`;
}

function sample(title: string, text: string): string {
  return `<div class="sample"><p class="sample-name"><span>${title}</span></p>${codeBlock(text, title)}</div>`;
}
