"""The services of Envoy's protocols, on grpcio. What they respond is said by each request itself.

Check: the header `x-verdict` holds a CheckResponse as JSON. ShouldRateLimit: an entry `verdict` of a descriptor holds a
RateLimitResponse; else keys are counted, and `LIMIT` hits are let through. Process: the header `x-process` holds
an object of ProcessingResponses by phase (`request_headers`, ...). `{"at_end": TEXT}` puts another body
in the place of one that is streamed. `{"sleep": SECONDS}` and `{"abort": STATUS}` stand for themselves.
Each message becomes a line of JSON in the file $SEEN before it is responded to:
{"call": NAME, "id": NUMBER OF THE CALL, "message": ..., "timeout": SECONDS}.
`cancelled MESSAGE` is printed when nobody waits for a response that sleeps.
"""

import base64
import itertools
import json
import os
import sys
import threading
import time
from concurrent import futures

import grpc
from envoy.extensions.filters.http.ext_proc.v3 import processing_mode_pb2 as modes_pb
from envoy.service.auth.v3 import external_auth_pb2 as auth
from envoy.service.auth.v3 import external_auth_pb2_grpc as auth_grpc
from envoy.service.ext_proc.v3 import external_processor_pb2 as proc
from envoy.service.ext_proc.v3 import external_processor_pb2_grpc as proc_grpc
from envoy.service.ratelimit.v3 import rls_pb2 as rls
from envoy.service.ratelimit.v3 import rls_pb2_grpc as rls_grpc
from google.protobuf import json_format

LIMIT = 3
FULL_DUPLEX = modes_pb.ProcessingMode.FULL_DUPLEX_STREAMED
writing = threading.Lock()
seen = open(os.environ["SEEN"], "a", buffering=1)
calls = itertools.count(1)


def show(call, message, context, number=None):
    line = {"call": call, "id": number or next(calls)}
    line["message"] = json_format.MessageToDict(message, preserving_proto_field_name=True)
    line["metadata"] = {key: value for key, value in context.invocation_metadata() if isinstance(value, str)}
    remaining = context.time_remaining()
    # Without a deadline grpcio says some 290 years.
    if remaining is not None and remaining < 1e6:
        line["timeout"] = remaining
    with writing:
        seen.write(json.dumps(line) + "\n")


def wait(seconds, message, context):
    """Says so when the caller does not wait to the end."""
    end = time.monotonic() + seconds
    while context.is_active() and time.monotonic() < end:
        time.sleep(min(0.02, seconds))
    if not context.is_active():
        with writing:
            print(f"cancelled {type(message).__name__}", flush=True)


def scripted(script, message, context):
    """The message that a script describes."""
    if "sleep" in script:
        wait(script.pop("sleep"), message, context)
    if "abort" in script:
        context.abort(getattr(grpc.StatusCode, script["abort"]), "as the script says: 100 %")
    return json_format.ParseDict(script, message)


class Authorization(auth_grpc.AuthorizationServicer):
    def Check(self, request, context):
        show("Check", request, context)
        script = request.attributes.request.http.headers.get("x-verdict", "{}")
        return scripted(json.loads(script), auth.CheckResponse(), context)


class RateLimit(rls_grpc.RateLimitServiceServicer):
    def __init__(self):
        self.hits = {}

    def ShouldRateLimit(self, request, context):
        show("ShouldRateLimit", request, context)
        for descriptor in request.descriptors:
            for entry in descriptor.entries:
                if entry.key == "verdict":
                    return scripted(json.loads(entry.value), rls.RateLimitResponse(), context)
        response = rls.RateLimitResponse(overall_code=rls.RateLimitResponse.OK)
        for descriptor in request.descriptors:
            # The oracle's requests name themselves in an entry that counts nothing.
            key = tuple((entry.key, entry.value) for entry in descriptor.entries if entry.key != "case")
            addend = descriptor.hits_addend.value if descriptor.HasField("hits_addend") else 1
            limit = descriptor.limit.requests_per_unit if descriptor.HasField("limit") else LIMIT
            self.hits[key] = self.hits.get(key, 0) + addend
            over = self.hits[key] > limit
            status = response.statuses.add(limit_remaining=max(0, limit - self.hits[key]))
            status.code = rls.RateLimitResponse.OVER_LIMIT if over else rls.RateLimitResponse.OK
            status.current_limit.requests_per_unit = limit
            status.current_limit.unit = rls.RateLimitResponse.RateLimit.MINUTE
            status.duration_until_reset.seconds = 30
            if over:
                response.overall_code = rls.RateLimitResponse.OVER_LIMIT
        return response


class Processor(proc_grpc.ExternalProcessorServicer):
    def Process(self, requests, context):
        number = next(calls)
        scripts = {}
        modes = {}
        for request in requests:
            show("Process", request, context, number)
            if request.HasField("protocol_config"):
                modes["request_body"] = request.protocol_config.request_body_mode
                modes["response_body"] = request.protocol_config.response_body_mode
            phase = request.WhichOneof("request")
            if phase == "request_headers":
                for header in request.request_headers.headers.headers:
                    if header.key == "x-process":
                        scripts = json.loads(header.raw_value or header.value)
            script = scripts.get(phase, {})
            if script is None:
                continue
            if script.pop("end", False):
                return
            if "at_end" in script:
                if getattr(request, phase).end_of_stream:
                    yield proc.ProcessingResponse(**{phase: whole(script["at_end"])})
                continue
            if "sleep" in script:
                wait(script.pop("sleep"), proc.ProcessingResponse(), context)
            if phase in script or "immediate_response" in script or "abort" in script:
                yield scripted(script, proc.ProcessingResponse(), context)
            else:
                passed = {**script, phase: echo(phase, request, modes.get(phase, FULL_DUPLEX))}
                yield scripted(passed, proc.ProcessingResponse(), context)


def whole(text):
    """A body in the place of one that came piece by piece."""
    streamed = proc.StreamedBodyResponse(body=text.encode(), end_of_stream=True)
    return proc.BodyResponse(response=proc.CommonResponse(body_mutation=proc.BodyMutation(streamed_response=streamed)))


def echo(phase, request, mode):
    """Passes a message on as it is."""
    if mode != FULL_DUPLEX or not phase.endswith("_body"):
        return {}
    body = getattr(request, phase)
    streamed = {"body": base64.b64encode(body.body).decode(), "end_of_stream": body.end_of_stream}
    return {"response": {"body_mutation": {"streamed_response": streamed}}}


# Whole bodies come in one message.
server = grpc.server(futures.ThreadPoolExecutor(64), options=[("grpc.max_receive_message_length", -1)])
auth_grpc.add_AuthorizationServicer_to_server(Authorization(), server)
rls_grpc.add_RateLimitServiceServicer_to_server(RateLimit(), server)
proc_grpc.add_ExternalProcessorServicer_to_server(Processor(), server)
port = sys.argv[1] if len(sys.argv) > 1 else "0"
if len(sys.argv) > 3:
    with open(sys.argv[2], "rb") as key, open(sys.argv[3], "rb") as cert:
        credentials = grpc.ssl_server_credentials([(key.read(), cert.read())])
    port = server.add_secure_port(f"127.0.0.1:{port}", credentials)
else:
    port = server.add_insecure_port(f"127.0.0.1:{port}")
server.start()
print(f"port {port}", flush=True)
server.wait_for_termination()
