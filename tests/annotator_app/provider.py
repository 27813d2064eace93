"""An OpenID Connect provider in one process: discovery, authorisation, token and keys."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "the-study", "a secret of the study and the provider"


class Provider:
    """Signs in the person of `account` without asking.

    Attributes:
      account: claims about the person.
      issuer: its address.
      asked: the paths of the requests it was sent, in order.
    """

    def __init__(self, port: int) -> None:
        self.issuer = f"http://127.0.0.1:{port}"
        self.account: dict[str, Any] = {}
        self.asked: list[str] = []
        self._key = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})
        self._codes: dict[str, dict[str, str]] = {}

    def discovery(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
        }

    def keys(self) -> dict[str, Any]:
        return {"keys": [self._key.as_dict(private=False)]}

    def authorize(self, query: dict[str, str]) -> str:
        """Return where a browser is sent back to, with a code for one use."""
        code = f"code {len(self._codes)}"
        self._codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def issue_tokens(self, form: dict[str, str], authorization: str) -> dict[str, Any]:
        """Return the tokens for a code, to the study that it was made for."""
        kind, _, word = authorization.partition(" ")
        assert (kind, base64.b64decode(word).decode()) == ("Basic", f"{CLIENT}:{SECRET}")
        query = self._codes.pop(form["code"])
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        assert challenge == query["code_challenge"] and query["code_challenge_method"] == "S256"
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "sub": "7", "iat": now, "exp": now + 60}
        claims |= {"nonce": query["nonce"]} | self.account
        signed = jwt.encode({"alg": "RS256", "kid": "one"}, claims, self._key, algorithms=["RS256"])
        return {"access_token": "opens nothing", "token_type": "Bearer", "id_token": signed}


@contextmanager
def running() -> Iterator[Provider]:
    """Run a provider on a free loopback port."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            made.asked.append(parts.path)
            if parts.path == "/authorize":
                to = made.authorize(dict(parse_qsl(parts.query)))
                self._send(302, b"", Location=to)
            else:
                value = made.keys() if parts.path == "/keys" else made.discovery()
                self._send(200, json.dumps(value).encode())

        def do_POST(self) -> None:
            made.asked.append(self.path)
            raw = self.rfile.read(int(self.headers["Content-Length"])).decode()
            tokens = made.issue_tokens(dict(parse_qsl(raw)), self.headers["Authorization"])
            self._send(200, json.dumps(tokens).encode())

        def _send(self, status: int, body: bytes, **headers: str) -> None:
            self.send_response(status)
            headers |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    made = Provider(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield made
    server.shutdown()
    server.server_close()
    thread.join()
