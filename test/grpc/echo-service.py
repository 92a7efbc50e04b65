"""A gRPC server of the service demo.Echo on grpcio; its messages are bytes. argv: port (0: any)."""

import sys
import threading
from concurrent import futures

import grpc


def unary(request, context):
    received = dict(context.invocation_metadata())
    context.set_trailing_metadata((
        ("x-behind", "the body"),
        ("x-seen", received.get("x-added", "")),
        *((("x-attempt", received["x-retry-attempt"]),) if "x-retry-attempt" in received else ()),
        ("bytes-bin", b"\x00\xff"),
    ))
    if request == b"busy" and received.get("x-retry-attempt") != "2":
        context.abort(grpc.StatusCode.UNAVAILABLE, "later")
    if request == b"refuse":
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, "not now: \u00e4")
    if request.startswith(b"wait"):
        ended = threading.Event()
        context.add_callback(ended.set)
        print("waiting:", request.decode(), flush=True)
        ended.wait()
        print("cancelled:", request.decode(), flush=True)
    return request


def count(request, context):
    for number in range(int(request)):
        yield b"%d" % number


def join(requests, context):
    return b",".join(requests)


def echo(requests, context):
    for each in requests:
        yield each


HANDLERS = {
    "/demo.Echo/Unary": grpc.unary_unary_rpc_method_handler(unary),
    "/demo.Echo/Count": grpc.unary_stream_rpc_method_handler(count),
    "/demo.Echo/Join": grpc.stream_unary_rpc_method_handler(join),
    "/demo.Echo/Both": grpc.stream_stream_rpc_method_handler(echo),
    "/demo.Admin/Delete": grpc.unary_unary_rpc_method_handler(unary),
}


class Handlers(grpc.GenericRpcHandler):
    def service(self, details):
        return HANDLERS.get(details.method)


server = grpc.server(
    futures.ThreadPoolExecutor(16),
    handlers=(Handlers(),),
    options=(("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)),
)
print("port", server.add_insecure_port(f"127.0.0.1:{sys.argv[1]}"), flush=True)
server.start()
server.wait_for_termination()
