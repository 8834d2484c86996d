"""Sends requests, and sends them again."""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast
from urllib.parse import quote

import httpx

from .errors import ConnectionError, ProblemError, failure_of

Page = TypeVar("Page")
Entry = TypeVar("Entry")

_FIRST_PAUSE = 0.5
_LOST = (None, 429, 502, 503, 504)


def part(value: str) -> str:
    """A part of a path."""
    return quote(value, safe="")


@dataclass(frozen=True)
class Settings:
    url: str
    key: str
    retries: int
    timeout: float
    max_wait: float


@dataclass(frozen=True)
class Request:
    """What is sent, on every attempt the same."""

    settings: Settings
    method: str
    path: str
    query: Mapping[str, Any] | None = None
    body: Mapping[str, Any] | None = None
    once: bool = False
    idempotency_key: str | None = None

    def to(self, client: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        headers = {"Authorization": f"Bearer {self.settings.key}"}
        if self.once:
            headers["Idempotency-Key"] = self.idempotency_key or str(uuid.uuid4())
        return client.build_request(
            self.method,
            self.settings.url.rstrip("/") + self.path,
            params=_given(self.query),
            json=_given(self.body),
            headers=headers,
            timeout=self.settings.timeout,
        )

    def pause(self, failure: ProblemError | ConnectionError, attempt: int) -> float:
        """Seconds until the next attempt; raises the failure when there is none."""
        if isinstance(failure, ProblemError):
            again = failure.retryable
        else:
            again = failure.status in _LOST and (self.once or self.method != "POST")
        # Twice as long each time, and of that a random half, so that many clients come apart.
        pause = _FIRST_PAUSE * 2.0**attempt * random.uniform(0.5, 1)
        if failure.retry_after is not None:
            pause = failure.retry_after
        if not again or attempt >= self.settings.retries or pause > self.settings.max_wait:
            raise failure
        return pause

    def lost(self, error: httpx.TransportError) -> ConnectionError:
        lost = ConnectionError(f"{self.method} {self.path}: {error or type(error).__name__}")
        lost.__cause__ = error
        return lost


def _given(words: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Without what is None. `from_` is `from`, which Python has another meaning for."""
    if words is None:
        return None
    return {name.rstrip("_"): value for name, value in words.items() if value is not None}


class Http:
    def __init__(self, client: httpx.Client, settings: Settings) -> None:
        self._client = client
        self._settings = settings

    def json(self, method: str, path: str, **asked: Any) -> Any:
        return self._send(Request(self._settings, method, path, **asked)).json()

    @contextmanager
    def file(self, method: str, path: str, **asked: Any) -> Iterator[httpx.Response]:
        """An answer that is not read yet: `iter_bytes()` of httpx."""
        response = self._send(Request(self._settings, method, path, **asked), stream=True)
        try:
            yield response
        finally:
            response.close()

    def _send(self, request: Request, stream: bool = False) -> httpx.Response:
        sent = request.to(self._client)
        attempt = 0
        while True:
            failure: ProblemError | ConnectionError
            try:
                response = self._client.send(sent, stream=stream)
                if response.is_success:
                    return response
                response.read()
                failure = failure_of(response)
            except httpx.TransportError as error:
                failure = request.lost(error)
            time.sleep(request.pause(failure, attempt))
            attempt += 1


class AsyncHttp:
    def __init__(self, client: httpx.AsyncClient, settings: Settings) -> None:
        self._client = client
        self._settings = settings

    async def json(self, method: str, path: str, **asked: Any) -> Any:
        return (await self._send(Request(self._settings, method, path, **asked))).json()

    @asynccontextmanager
    async def file(self, method: str, path: str, **asked: Any) -> AsyncIterator[httpx.Response]:
        """An answer that is not read yet: `aiter_bytes()` of httpx."""
        response = await self._send(Request(self._settings, method, path, **asked), stream=True)
        try:
            yield response
        finally:
            await response.aclose()

    async def _send(self, request: Request, stream: bool = False) -> httpx.Response:
        sent = request.to(self._client)
        attempt = 0
        while True:
            failure: ProblemError | ConnectionError
            try:
                response = await self._client.send(sent, stream=stream)
                if response.is_success:
                    return response
                await response.aread()
                failure = failure_of(response)
            except httpx.TransportError as error:
                failure = request.lost(error)
            await asyncio.sleep(request.pause(failure, attempt))
            attempt += 1


class Pages(Generic[Page, Entry]):
    """The entries of a list, page after page: `for message in harkara.messages.list(): …`."""

    def __init__(self, http: Http, method: str, path: str, entries: str, *, query: Mapping[str, Any]) -> None:
        self._http, self._method, self._path, self._entries, self._query = http, method, path, entries, query

    def page(self) -> Page:
        """One page as it is answered, the first unless there is a `cursor`."""
        return cast(Page, self._http.json(self._method, self._path, query=self._query))

    def __iter__(self) -> Iterator[Entry]:
        query = dict(self._query)
        while True:
            page = self._http.json(self._method, self._path, query=query)
            yield from page[self._entries]
            if page["next_cursor"] is None:
                return
            query["cursor"] = page["next_cursor"]


class AsyncPages(Generic[Page, Entry]):
    """The entries of a list, page after page: `async for message in harkara.messages.list(): …`."""

    def __init__(self, http: AsyncHttp, method: str, path: str, entries: str, *, query: Mapping[str, Any]) -> None:
        self._http, self._method, self._path, self._entries, self._query = http, method, path, entries, query

    async def page(self) -> Page:
        """One page as it is answered, the first unless there is a `cursor`."""
        return cast(Page, await self._http.json(self._method, self._path, query=self._query))

    async def __aiter__(self) -> AsyncIterator[Entry]:
        query = dict(self._query)
        while True:
            page = await self._http.json(self._method, self._path, query=query)
            for entry in page[self._entries]:
                yield entry
            if page["next_cursor"] is None:
                return
            query["cursor"] = page["next_cursor"]
