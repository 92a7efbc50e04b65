"""Calls demo.Echo through a gateway with grpcio's client and prints what came, as a line of JSON. argv: host:port."""

import json
import queue
import sys

import grpc

channel = grpc.insecure_channel(sys.argv[1])
SECONDS = 60


def outcome(call):
    try:
        return call()
    except grpc.RpcError as error:
        return [error.code().name, error.details()]


def unary(method, message):
    response, call = channel.unary_unary(method).with_call(message, timeout=SECONDS)
    return [len(response), {key: str(value) for key, value in call.trailing_metadata()}]


def both():
    sent = queue.Queue()
    received = channel.stream_stream("/demo.Echo/Both")(iter(sent.get, None), timeout=SECONDS)
    pairs = []
    for number in range(3):
        sent.put(b"%d" % number)
        pairs.append(next(received).decode())
    sent.put(None)
    return [*pairs, *received, received.code().name]


print(json.dumps({
    "unary": unary("/demo.Echo/Unary", b"hello"),
    "large": unary("/demo.Echo/Unary", bytes(3_000_000))[0],
    "refused": outcome(lambda: unary("/demo.Echo/Unary", b"refuse")),
    "count": len(list(channel.unary_stream("/demo.Echo/Count")(b"1000", timeout=SECONDS))),
    "join": channel.stream_unary("/demo.Echo/Join")(iter([b"a", b"b"]), timeout=SECONDS).decode(),
    "both": both(),
    "forbidden": outcome(lambda: unary("/demo.Admin/Delete", b"")),
    "unknown": outcome(lambda: unary("/demo.Nobody/Thing", b"")),
}))
