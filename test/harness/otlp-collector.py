"""An OTLP collector over HTTP, or gRPC with `grpc` as argument: what comes is read by opentelemetry-proto and printed.

Prints `listening on PORT`, then a JSON object a request: {"path", "request"} or {"path", "problem"}. The statuses that
are given as arguments are its first responses (`503:1` with Retry-After); all that follow are 200.
"""

import base64
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google.protobuf.json_format import MessageToDict, ParseDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

KINDS = {"/v1/traces": ExportTraceServiceRequest, "/v1/logs": ExportLogsServiceRequest}
IDS = {"traceId": 16, "spanId": 8, "parentSpanId": 8}
printing = threading.Lock()
statuses = [each for each in sys.argv[1:] if each != "grpc"]


def of_protobuf(value):
    """OTLP writes ids as hex digits where protobuf's JSON has base64."""
    if isinstance(value, list):
        return [of_protobuf(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {name: id_of(name, each) if name in IDS else of_protobuf(each) for name, each in value.items()}


def id_of(name, text):
    data = bytes.fromhex(text)
    if len(data) != IDS[name] or not any(data):
        raise ValueError(f"{name} is {text}")
    return base64.b64encode(data).decode()


def of_otlp(value):
    if isinstance(value, list):
        return [of_otlp(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: base64.b64decode(each).hex() if name in IDS else of_otlp(each) for name, each in value.items()
    }


def show(said):
    with printing:
        print(json.dumps(said), flush=True)


class Collector(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        status, _, after = (statuses.pop(0) if statuses else "200").partition(":")
        said = {"path": self.path, "status": int(status), "headers": dict(self.headers)}
        kind = self.headers["content-type"]
        try:
            if kind == "application/x-protobuf":
                message = KINDS[self.path].FromString(body)
            elif kind == "application/json":
                message = ParseDict(of_protobuf(json.loads(body)), KINDS[self.path]())
            else:
                raise ValueError(f"content-type is {kind}")
            said["request"] = of_otlp(MessageToDict(message))
        except Exception as problem:  # whatever it is, the test shows it
            said["problem"] = str(problem)
            status = "400"
        show(said)
        self.send_response(int(status))
        if after:
            self.send_header("retry-after", after)
        # An empty message is `{}` in JSON, and no byte in protobuf.
        response = b"" if kind == "application/x-protobuf" else b"{}"
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(response)))
        self.end_headers()
        self.wfile.write(response)

    def log_message(self, *_):
        pass


def serve_grpc():
    import grpc
    from concurrent.futures import ThreadPoolExecutor
    from opentelemetry.proto.collector.logs.v1 import logs_service_pb2 as logs, logs_service_pb2_grpc as logs_grpc
    from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as trace, trace_service_pb2_grpc as trace_grpc

    def service(base, path, response):
        def export(_self, request, context):
            said = {"path": path, "status": 200, "headers": dict(context.invocation_metadata())}
            show(said | {"request": of_otlp(MessageToDict(request))})
            if statuses:
                context.abort(grpc.StatusCode[statuses.pop(0)], "not now")
            return response()

        return type("Service", (base,), {"Export": export})()

    server = grpc.server(ThreadPoolExecutor(4))
    traces = service(trace_grpc.TraceServiceServicer, "/v1/traces", trace.ExportTraceServiceResponse)
    trace_grpc.add_TraceServiceServicer_to_server(traces, server)
    records = service(logs_grpc.LogsServiceServicer, "/v1/logs", logs.ExportLogsServiceResponse)
    logs_grpc.add_LogsServiceServicer_to_server(records, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(f"listening on {port}", flush=True)
    server.wait_for_termination()


if "grpc" in sys.argv:
    serve_grpc()
server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
server.daemon_threads = True
print(f"listening on {server.server_port}", flush=True)
server.serve_forever()
