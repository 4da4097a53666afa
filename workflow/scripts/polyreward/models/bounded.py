"""A client of a server that nobody here vouches for: each request is bounded in time, size and number, and
goes nowhere else."""

import asyncio
import threading
from urllib.parse import urlsplit

import httpx2
import openai

MOST_BYTES = (
    16 * 2**20
)  # of a response; a reply of 100,000 tokens with their likeliest alternatives has fewer
# Headers that a request has. openai adds the platform, and OPENAI_ORG_ID and OPENAI_PROJECT_ID
# where they are set.
SENT_HEADERS = (
    "accept",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "host",
    "transfer-encoding",
)


class Spent(openai.OpenAIError):  # noqa: N818 - no fault, but the end of what may be asked
    """No more requests may be sent; openai passes its own kind of error through, without another try."""


class Budget:
    """How many requests may still be sent, retries included; threads and loops may share it."""

    def __init__(self, most: int):
        self.most, self.sent, self._lock = most, 0, threading.Lock()

    @property
    def left(self) -> int:
        """Return how many may still be sent."""
        return self.most - self.sent

    def take(self) -> None:
        """Count one request; raises Spent where it would be one too many."""
        with self._lock:
            if not self.left:
                raise Spent
            self.sent += 1


class BoundedClient:
    """OpenAI's chat completions for several threads; for a `with` block.

    timeout_s: of one request, from its first byte to the response's last. retries: of one request, later and
    later, or when the server says. A redirect is not followed but is the response, with words as its body."""

    def __init__(self, url: str, key: str, timeout_s: float, retries: int, budget: Budget):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        client = _BoundedHttp(timeout_s, budget)
        self._client = openai.AsyncOpenAI(
            base_url=url, api_key=key, timeout=timeout_s, max_retries=retries, http_client=client
        )

    def __enter__(self) -> "BoundedClient":
        """Return itself."""
        self._thread.start()
        return self

    def __exit__(self, *error) -> None:
        """Close all connections."""
        self._run(self._client.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def chat(self, **body):
        """Return openai's raw response to a request for a chat completion; raises Spent, and openai's
        errors."""
        return self._run(self._client.chat.completions.with_raw_response.create(**body))

    def _run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()


class _BoundedHttp(openai.DefaultAsyncHttpxClient):
    """The client below openai's, which reads each response itself: a byte now and then would renew any other
    time limit."""

    def __init__(self, timeout_s: float, budget: Budget):
        super().__init__()
        self._seconds, self._budget = timeout_s, budget

    async def send(self, request: httpx2.Request, **options) -> httpx2.Response:
        """Send a request and return its whole response, or its first MOST_BYTES."""
        self._budget.take()
        headers = {name: value for name, value in request.headers.items() if name in SENT_HEADERS}
        sent = httpx2.Request(
            request.method,
            request.url,
            headers={**headers, "accept-encoding": "identity"},
            content=request.content,
            extensions=request.extensions,
        )
        try:
            async with asyncio.timeout(self._seconds):
                response = await super().send(sent, **{**options, "stream": True, "follow_redirects": False})
                try:
                    return await _whole(response, request)
                finally:
                    await response.aclose()
        except TimeoutError:
            raise httpx2.ReadTimeout("the whole request took too long", request=request) from None


async def _whole(response: httpx2.Response, request: httpx2.Request) -> httpx2.Response:
    content = bytearray()
    if response.has_redirect_location:
        place = urlsplit(response.headers["location"])
        port = f":{place.port}" if place.port else ""
        content += f"a redirect to {place.hostname or 'another path'}{port}, not followed".encode()
    else:
        async for part in response.aiter_bytes():
            content += part[: MOST_BYTES - len(content)]
            if len(content) == MOST_BYTES:
                break
    names = ("content-type", "retry-after", "retry-after-ms")
    kept = {name: response.headers[name] for name in names if name in response.headers}
    return httpx2.Response(response.status_code, headers=kept, content=bytes(content), request=request)
