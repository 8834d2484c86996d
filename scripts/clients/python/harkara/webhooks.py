from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping
from typing import cast

from .errors import WebhookVerificationError
from .types import WebhookEvent


def verify_webhook(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str,
    *,
    tolerance: float = 300.0,
    now: float | None = None,
) -> WebhookEvent:
    """The event of a post, once its signature is proven (Standard Webhooks, `v1`).

    `body` is what arrived, byte for byte: parse nothing before. `headers` are those of your framework, in any case. `secret` is the
    endpoint's `whsec_…`, `tolerance` and `now` are in seconds. Events of kinds that you do not know are to be acknowledged too:
    `webhook.test` is posted when a test is asked for.
    """
    events = verify_webhooks(body, headers, secret, tolerance=tolerance, now=now)
    if len(events) != 1:
        raise WebhookVerificationError("The post has several events: take them with verify_webhooks.")
    return events[0]


def verify_webhooks(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str,
    *,
    tolerance: float = 300.0,
    now: float | None = None,
) -> list[WebhookEvent]:
    """As `verify_webhook`, for endpoints with `events_per_post` above 1: all events of the post."""
    named = {name.lower(): value for name, value in headers.items()}
    try:
        event_id, timestamp, signatures = (
            named[name] for name in ("webhook-id", "webhook-timestamp", "webhook-signature")
        )
    except KeyError as missing:
        raise WebhookVerificationError(f"The post has no header {missing.args[0]}.") from None
    if not re.fullmatch(r"[0-9]{1,12}", timestamp) or abs((now or time.time()) - int(timestamp)) > tolerance:
        raise WebhookVerificationError("The header webhook-timestamp is not of these minutes.")
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        key = b""
    if not key:
        raise WebhookVerificationError("The secret is not whsec_ and base64.")
    text = body.encode() if isinstance(body, str) else body
    signed = f"{event_id}.{timestamp}.".encode() + text
    proof = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    # Compared in constant time. During a rotation there is one for each secret.
    if not any(hmac.compare_digest(f"v1,{proof}".encode(), one.encode()) for one in signatures.split(" ")):
        raise WebhookVerificationError("No signature of the post is of this secret.")
    posted = json.loads(text)
    events = posted if isinstance(posted, list) else [{**posted, "event_id": event_id}]
    return cast("list[WebhookEvent]", events)
