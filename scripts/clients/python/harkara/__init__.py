"""The client of a Harkara gateway, sync and async. `Harkara(url=…, key=…)`; `AsyncHarkara` has the same calls, to be awaited."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import httpx

from ._async_calls import AsyncGroups
from ._calls import Groups
from ._http import AsyncHttp, AsyncPages, Http, Pages, Settings
from .errors import ConnectionError, HarkaraError, ProblemError, WebhookVerificationError
from .webhooks import verify_webhook, verify_webhooks

__all__ = [
    "AsyncHarkara",
    "AsyncPages",
    "ConnectionError",
    "Harkara",
    "HarkaraError",
    "Pages",
    "ProblemError",
    "WebhookVerificationError",
    "verify_webhook",
    "verify_webhooks",
]


class Harkara(Groups):
    """The gateway's API for one account.

    `retries`: how often a request is sent again. `timeout`: seconds without a byte, of one attempt. `max_wait`: the longest pause in
    seconds between two attempts; where `Retry-After` asks for more, the error is raised at once. `client`: your own `httpx.Client`, for
    a proxy or certificates.
    """

    def __init__(
        self,
        *,
        url: str,
        key: str,
        retries: int = 3,
        timeout: float = 60.0,
        max_wait: float = 60.0,
        client: httpx.Client | None = None,
    ) -> None:
        self._client = client or httpx.Client()
        super().__init__(Http(self._client, Settings(url, key, retries, timeout, max_wait)))

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncHarkara(AsyncGroups):
    """As `Harkara`, for asyncio: `client` is an `httpx.AsyncClient`."""

    def __init__(
        self,
        *,
        url: str,
        key: str,
        retries: int = 3,
        timeout: float = 60.0,
        max_wait: float = 60.0,
        client: httpx.AsyncClient | None = None,
    ) -> None:
        self._client = client or httpx.AsyncClient()
        super().__init__(AsyncHttp(self._client, Settings(url, key, retries, timeout, max_wait)))

    async def close(self) -> None:
        await self._client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
