"""An MCP server (2026-07-28, HTTP) that wants a login, and the authorization server beside it.

The first line names the address. `read` needs the scope `read`, `write` the scope `write`. Whoever
asks for a login has it: the page only leads back.
"""

import json
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOKENS = {}  # token: scopes
CODES = {}  # code: scopes
SCHEMA = {"type": "object", "properties": {}, "additionalProperties": False}


class Shop(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, body=None, **headers):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def challenge(self, status, rest):
        meta = f"{BASE}/.well-known/oauth-protected-resource/mcp"
        self.send(status, {}, www_authenticate=f'Bearer resource_metadata="{meta}", {rest}')

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path == "/.well-known/oauth-protected-resource/mcp":
            return self.send(200, {"resource": f"{BASE}/mcp", "authorization_servers": [BASE]})
        if path == "/.well-known/oauth-authorization-server":
            return self.send(200, {
                "issuer": BASE,
                "authorization_endpoint": f"{BASE}/authorize",
                "token_endpoint": f"{BASE}/token",
                "registration_endpoint": f"{BASE}/register",
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
            })
        if path == "/authorize":
            asked = dict(urllib.parse.parse_qsl(query))
            code = f"code-{len(CODES)}"
            CODES[code] = asked.get("scope", "")
            back = urllib.parse.urlencode({"code": code, "state": asked["state"], "iss": BASE})
            return self.send(302, location=f"{asked['redirect_uri']}?{back}")
        if path == "/mcp":
            return self.challenge(401, 'scope="read"')
        return self.send(404, {})

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        if self.path == "/register":
            return self.send(201, {"client_id": "registered", "redirect_uris": []})
        if self.path == "/token":
            form = dict(urllib.parse.parse_qsl(body))
            token = f"secret-{len(TOKENS)}"
            TOKENS[token] = CODES.pop(form["code"])
            return self.send(200, {"access_token": token, "token_type": "Bearer",
                                   "expires_in": 3600, "scope": TOKENS[token]})
        return self.mcp(json.loads(body))

    def mcp(self, message):
        scopes = TOKENS.get((self.headers["authorization"] or "").removeprefix("Bearer "))
        if scopes is None:
            return self.challenge(401, 'scope="read"')
        method, params = message["method"], message.get("params", {})
        if method == "server/discover":
            result = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                      "ttlMs": 0, "cacheScope": "private"}
        elif method == "tools/list":
            tools = [{"name": name, "description": name, "inputSchema": SCHEMA}
                     for name in ("read", "write")]
            result = {"tools": tools, "ttlMs": 0, "cacheScope": "private"}
        elif method == "tools/call":
            if params["name"] not in scopes.split():
                return self.challenge(
                    403, f'error="insufficient_scope", scope="{params["name"]}"')
            result = {"content": [{"type": "text", "text": f"{params['name']} done"}]}
        else:
            error = {"code": -32601, "message": "Method not found"}
            return self.send(404, {"jsonrpc": "2.0", "id": message.get("id"), "error": error})
        result["resultType"] = "complete"
        self.send(200, {"jsonrpc": "2.0", "id": message["id"], "result": result})


server = ThreadingHTTPServer(("127.0.0.1", 0), Shop)
BASE = f"http://127.0.0.1:{server.server_address[1]}"
print(BASE, flush=True)
server.serve_forever()
