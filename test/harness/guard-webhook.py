"""A webhook as the gateway's guards ask it, on Python's own HTTP server.

The first part of the path says what it does (`/mask/request`, or `/request`): words that begin with "secret" are what it looks for.
Prints `port N`. Each request becomes a line of JSON in the file $SEEN before it is responded to.
"""

import http.server
import json
import os
import re
import threading
import time

WORD = re.compile(r"secret\w*")


def mask(text):
    return WORD.sub("[hidden]", text)


def masked(body):
    if "messages" in body:
        items = [{**each, "content": mask(each["content"])} for each in body["messages"]]
        return {"messages": items}
    choices = body["choices"]
    return {
        "choices": [
            {"message": {**each["message"], "content": mask(each["message"]["content"])}}
            for each in choices
        ]
    }


def texts(body):
    messages = body.get("messages") or [each["message"] for each in body["choices"]]
    return [each["content"] for each in messages]


def action(kind, body):
    found = any(WORD.search(each) for each in texts(body))
    if kind == "reject" and found:
        return {"body": "The webhook says no.", "status_code": 451, "reason": "a secret"}
    if kind == "reject-bare" and found:
        return {"body": "", "reason": "a secret"}
    if kind == "mask" and found:
        return {"body": masked(body), "reason": "a secret"}
    if kind == "grow":
        grown = json.loads(json.dumps(body).replace("secret", "a very long secret of ours"))
        return {"body": grown}
    return {"reason": "nothing found"}


# What is no response that makes sense, by the part of the path.
RUBBISH = {
    "no-json": b"<html>",
    "no-object": b"[]",
    "no-action": b"{}",
    "list": b'{"action": [1]}',
    "number": b'{"action": {"body": 12}}',
    "fewer": b'{"action": {"body": {"messages": [], "choices": []}}}',
    "no-content": b'{"action": {"body": {"messages": [{}], "choices": [{}]}}}',
    "no-utf8": b'{"action": {"reason": "\xff"}}',
    "deep": b'{"action":' + b"[" * 100_000,
    "empty": b"",
}


writing = threading.Lock()
file = open(os.environ["SEEN"], "a", buffering=1)


class Webhook(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        *first, phase = self.path[1:].split("/")
        kind = first[0] if first else "mask"
        sent = self.rfile.read(int(self.headers["content-length"]))
        body = json.loads(sent)["body"]
        seen = {"kind": kind, "phase": phase, "headers": dict(self.headers), "body": body}
        with writing:
            file.write(json.dumps(seen) + "\n")
        if kind == "slow":
            time.sleep(30)
        if kind == "late":
            time.sleep(0.3)
        status = 500 if kind == "error" else 200
        data = RUBBISH.get(kind)
        if data is None:
            data = json.dumps({"action": action(kind, body)}).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Webhook)
print(f"port {server.server_port}", flush=True)
server.serve_forever()
