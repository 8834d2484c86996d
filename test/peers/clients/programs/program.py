"""What a customer's program does, sync and async; program.ts does the same."""

import asyncio
import base64
import json
import os
import time
from collections.abc import Awaitable, Callable

import httpx

from harkara import (
    AsyncHarkara,
    ConnectionError,
    Harkara,
    HarkaraError,
    ProblemError,
    WebhookVerificationError,
    verify_webhook,
)

URL, KEY = os.environ["HARKARA_URL"], os.environ["HARKARA_KEY"]


def under(plan: list[str]) -> None:
    httpx.post(f"{URL}/plan", json=plan)


def attempts() -> object:
    return httpx.get(f"{URL}/plan").json()


def told_of(error: HarkaraError) -> object:
    if isinstance(error, ProblemError):
        fields = [f"{one['field']} {one['code']}" for one in error.errors]
        return ["ProblemError", error.status, error.code, fields, error.retry_after, attempts()]
    assert isinstance(error, ConnectionError)
    return ["ConnectionError", error.status, attempts()]


def failure(call: Callable[[], object]) -> object:
    try:
        return call()
    except HarkaraError as error:
        return told_of(error)


async def awaited_failure(call: Awaitable[object]) -> object:
    try:
        return await call
    except HarkaraError as error:
        return told_of(error)


def webhooks() -> dict[str, object]:
    with open(os.environ["POST"]) as file:
        post = json.load(file)
    body, headers, secret = post["body"], post["headers"], post["secret"]
    event = verify_webhook(body.encode(), headers, secret)
    assert event["event"] == "message.delivered"
    assert event["message_id"].startswith("msg_")
    other = f"whsec_{base64.b64encode(b'another secret').decode()}"
    calls: list[Callable[[], object]] = [
        lambda: verify_webhook(body + " ", headers, secret),
        lambda: verify_webhook(body, headers, other),
        lambda: verify_webhook(body, headers, secret, now=time.time() + 301),
        lambda: verify_webhook(body, {**headers, "webhook-signature": "v1,?"}, secret),
        lambda: verify_webhook(body, {}, secret),
    ]
    refused: list[object] = []
    for call in calls:
        try:
            refused.append(call())
        except WebhookVerificationError:
            refused.append(True)
    return {"event": [event["event"], event["event_id"], event["message_id"]], "refused": refused}


def sync() -> dict[str, object]:
    harkara = Harkara(url=URL, key=KEY)
    told: dict[str, object] = {}
    balance = harkara.account.balance()["balance"]
    under(["lose", "half", "limited"])
    sent = harkara.sms.send(to="919876543210", message="Your code is 4711", sender="HARKRA")
    told["retried"] = attempts()
    told["paid"] = balance - harkara.account.balance()["balance"]
    told["sent"] = harkara.messages.get(sent["message_id"])["to"]

    key = f"order-{time.time()}"
    first, second = (
        harkara.sms.send(to="919876543210", message="Hello", sender="HARKRA", idempotency_key=key) for _ in range(2)
    )
    told["same"] = first["message_id"] == second["message_id"]
    told["dry"] = harkara.sms.send_dry_run(to="919876543210", message="Hello", sender="HARKRA")["credits_required"]

    under(["down"] * 9)
    once = Harkara(url=URL, key=KEY, retries=1)
    told["bound"] = failure(lambda: once.sms.send(to="919876543210", message="Hello", sender="HARKRA"))
    under(["later"])
    told["later"] = failure(lambda: harkara.sms.send(to="919876543210", message="Hello", sender="HARKRA"))
    under(["lose"])
    told["unkeyed"] = failure(lambda: harkara.templates.check(content="Hello {#var#}"))
    under([])
    told["problem"] = failure(
        lambda: harkara.sms.send(to="12", message="Hello", sender="HARKRA", priorty="otp")  # type: ignore[call-arg]
    )

    own = harkara.messages.list(limit=1, to="919876543210")
    ids = [message["message_id"] for message in own]
    told["pages"] = [len(set(ids)) == len(ids), sent["message_id"] in ids, len(own.page()["data"])]
    with harkara.ledger.csv() as file:
        told["file"] = next(file.iter_lines()).split(",")[0]
    harkara.close()
    return {**told, **webhooks()}


async def awaited() -> dict[str, object]:
    told: dict[str, object] = {}
    async with AsyncHarkara(url=URL, key=KEY) as harkara:
        balance = (await harkara.account.balance())["balance"]
        under(["lose", "half", "limited"])
        sent = await harkara.sms.send(to="919876543210", message="Your code is 4711", sender="HARKRA")
        told["retried"] = attempts()
        told["paid"] = balance - (await harkara.account.balance())["balance"]
        told["sent"] = (await harkara.messages.get(sent["message_id"]))["to"]

        key = f"order-{time.time()}"
        first, second = [
            await harkara.sms.send(to="919876543210", message="Hello", sender="HARKRA", idempotency_key=key)
            for _ in range(2)
        ]
        told["same"] = first["message_id"] == second["message_id"]
        dry = await harkara.sms.send_dry_run(to="919876543210", message="Hello", sender="HARKRA")
        told["dry"] = dry["credits_required"]

        under(["down"] * 9)
        async with AsyncHarkara(url=URL, key=KEY, retries=1) as once:
            told["bound"] = await awaited_failure(once.sms.send(to="919876543210", message="Hello", sender="HARKRA"))
        under(["later"])
        told["later"] = await awaited_failure(harkara.sms.send(to="919876543210", message="Hello", sender="HARKRA"))
        under(["lose"])
        told["unkeyed"] = await awaited_failure(harkara.templates.check(content="Hello {#var#}"))
        under([])
        wrong = harkara.sms.send(to="12", message="Hello", sender="HARKRA", priorty="otp")  # type: ignore[call-arg]
        told["problem"] = await awaited_failure(wrong)

        own = harkara.messages.list(limit=1, to="919876543210")
        ids = [message["message_id"] async for message in own]
        told["pages"] = [len(set(ids)) == len(ids), sent["message_id"] in ids, len((await own.page())["data"])]
        async with harkara.ledger.csv() as file:
            told["file"] = (await file.aread()).decode().split(",")[0]
    return {**told, **webhooks()}


print(json.dumps([sync(), asyncio.run(awaited())]))
