"""The servers that gateway.yaml calls, and the shop behind it. Needs `pip install grpcio xds-protos`.

python3 servers.py [PORT_OF_CALLOUTS PORT_OF_SHOP]
"""

import re
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import grpc
from envoy.service.auth.v3 import external_auth_pb2 as auth
from envoy.service.auth.v3 import external_auth_pb2_grpc as auth_grpc
from envoy.service.ext_proc.v3 import external_processor_pb2 as proc
from envoy.service.ext_proc.v3 import external_processor_pb2_grpc as proc_grpc
from envoy.service.ratelimit.v3 import rls_pb2 as limits
from envoy.service.ratelimit.v3 import rls_pb2_grpc as limits_grpc
from google.rpc import code_pb2

USERS = {"Bearer anna": ("anna", "customer"), "Bearer root": ("root", "admin")}


class Authorization(auth_grpc.AuthorizationServicer):
    """extAuthz: who is it?"""

    def Check(self, request, context):
        token = request.attributes.request.http.headers.get("authorization", "")
        response = auth.CheckResponse()
        if token not in USERS:
            response.status.code = code_pb2.UNAUTHENTICATED
            response.denied_response.status.code = 401
            response.denied_response.body = "who are you?\n"
            return response
        user, role = USERS[token]
        response.dynamic_metadata.update({"user": user, "role": role})
        return response


class Limits(limits_grpc.RateLimitServiceServicer):
    """remoteRateLimit: how many have there been this minute?"""

    def __init__(self):
        self.counts, self.lock = {}, threading.Lock()

    def ShouldRateLimit(self, request, context):
        response = limits.RateLimitResponse(overall_code=limits.RateLimitResponse.OK)
        now = time.time()
        for descriptor in request.descriptors:
            key = (request.domain, int(now // 60), *((each.key, each.value) for each in descriptor.entries))
            with self.lock:
                self.counts[key] = self.counts.get(key, 0) + descriptor.hits_addend.value
            left = descriptor.limit.requests_per_unit - self.counts[key]
            status = response.statuses.add(limit_remaining=max(0, left))
            status.current_limit.requests_per_unit = descriptor.limit.requests_per_unit
            status.duration_until_reset.seconds = 60 - int(now % 60)
            if left < 0:
                response.overall_code = limits.RateLimitResponse.OVER_LIMIT
        return response


class Processor(proc_grpc.ExternalProcessorServicer):
    """extProc: what is to become of it?"""

    def Process(self, requests, context):
        for request in requests:
            phase = request.WhichOneof("request")
            response = proc.ProcessingResponse()
            getattr(response, phase).SetInParent()
            if phase == "response_body":
                masked = re.sub(rb"\b(\d{4}) \d{4} \d{4} (\d{4})\b", rb"\1 **** **** \2", request.response_body.body)
                response.response_body.response.body_mutation.body = masked
            yield response


class Shop(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = f"{self.path} of {self.headers['x-user']}, paid with 4111 1111 1111 1111\n".encode()
        self.send_response(200)
        self.send_header("content-type", "text/plain")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


ports = [int(each) for each in sys.argv[1:]] or [9000, 9001]
server = grpc.server(ThreadPoolExecutor(16))
auth_grpc.add_AuthorizationServicer_to_server(Authorization(), server)
limits_grpc.add_RateLimitServiceServicer_to_server(Limits(), server)
proc_grpc.add_ExternalProcessorServicer_to_server(Processor(), server)
callouts = server.add_insecure_port(f"127.0.0.1:{ports[0]}")
shop = ThreadingHTTPServer(("127.0.0.1", ports[1]), Shop)
server.start()
print(f"callouts on 127.0.0.1:{callouts}, shop on 127.0.0.1:{shop.server_port}", flush=True)
shop.serve_forever()
