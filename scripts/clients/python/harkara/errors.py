from __future__ import annotations

from typing import Any

import httpx

from .types import Problem


class HarkaraError(Exception):
    """Everything that a call raises."""

    retry_after: float | None = None


class ProblemError(HarkaraError):
    """The gateway said no, and why.

    `code` is what a program looks at (`insufficient_credits`), `errors` is everything that is wrong with the fields of the request,
    `request_id` is what your service provider asks for. `retryable`: the same request can succeed later. `members`: as it was answered;
    some problems have more of them (`quota`, `message_id`).
    """

    def __init__(self, problem: Problem, members: dict[str, Any], retry_after: float | None) -> None:
        # One alone stands in the problem's own detail.
        further = [error for error in problem["errors"] if error["detail"] not in problem["detail"]]
        fields = "".join(f" {error['field']}: {error['detail']}" for error in further)
        super().__init__(f"{problem['status']} {problem['code']}: {problem['detail']}{fields}")
        self.problem = problem
        self.members = members
        self.status = problem["status"]
        self.code = problem["code"]
        self.errors = problem["errors"]
        self.request_id = problem["request_id"]
        self.retryable = problem["retryable"]
        self.retry_after = retry_after


class ConnectionError(HarkaraError):
    """No answer, or none of the gateway's: whether the request was done is not known.

    Call again with the same `idempotency_key`. `status`: of a proxy in between.
    """

    def __init__(self, message: str, status: int | None = None, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class WebhookVerificationError(HarkaraError):
    """The post is not ours, is too old, or was changed on the way. Answer 400."""


def failure_of(response: httpx.Response) -> ProblemError | ConnectionError:
    """What an answer that is no success is raised as. Its body has been read."""
    try:
        retry_after = float(response.headers.get("retry-after", ""))
    except ValueError:
        retry_after = None
    if response.headers.get("content-type", "").startswith("application/problem+json"):
        members = response.json()
        return ProblemError(members, members, retry_after)
    words = f"{response.status_code} {response.reason_phrase}, not from the gateway: {response.text[:200]}"
    return ConnectionError(words, response.status_code, retry_after)
