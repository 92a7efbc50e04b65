"""A server of FastMCP over streamable HTTP on a port, with a tool that asks its user."""
import sys
from dataclasses import dataclass

import mcp_types as types
from fastmcp import Context, FastMCP

server = FastMCP("python")


@dataclass
class Name:
    name: str


@server.tool
def add(a: int, b: int) -> int:
    return a + b


@server.tool
async def ask_user(ctx: Context) -> str | types.InputRequiredResult:
    # Without sessions, a server asks in a result, and the client calls again with the answer.
    if ctx.request_context.protocol_version == "2026-07-28":
        if ctx.input_responses is None:
            return types.InputRequiredResult(input_requests={"name": question()})
        answer = ctx.input_responses["name"]
        return greeting(answer.action, answer.content and answer.content["name"])
    answer = await ctx.elicit("Your name?", response_type=Name)
    return greeting(answer.action, answer.action == "accept" and answer.data.name)


def question():
    fields = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    params = types.ElicitRequestFormParams(message="Your name?", requested_schema=fields)
    return types.ElicitRequest(params=params)


def greeting(action, name):
    return f"Hello, {name}!" if action == "accept" else f"The user {action}s."


server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
