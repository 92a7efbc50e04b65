"""A server of the Python SDK 1.x (sessions), over streamable HTTP on a port or over stdio; loaded.py runs it."""
import os

import anyio
from mcp.server.fastmcp import Context, FastMCP
from mcp.types import SamplingMessage, TextContent
from pydantic import BaseModel

server = FastMCP("python", host="127.0.0.1")


class Name(BaseModel):
    name: str


@server.tool()
def add(a: int, b: int) -> int:
    return a + b


@server.tool()
async def steps(ctx: Context) -> str:
    for step in range(3):
        await ctx.report_progress(step, 2)
    return "done"


@server.tool()
async def ask_user(ctx: Context) -> str:
    answer = await ctx.elicit("Your name?", Name)
    return f"Hello, {answer.data.name}!" if answer.action == "accept" else answer.action


@server.tool()
async def ask_model(ctx: Context) -> str:
    message = SamplingMessage(role="user", content=TextContent(type="text", text="Capital of France?"))
    said = await ctx.session.create_message([message], max_tokens=10, related_request_id=ctx.request_id)
    return f"The model says {said.content.text}"


@server.tool()
async def ask_roots(ctx: Context) -> str:
    return str([str(root.uri) for root in (await ctx.session.list_roots()).roots])


@server.tool()
async def wait(ctx: Context) -> str:
    try:
        await ctx.report_progress(0, 1)
        await anyio.sleep(600)
        return "waited"
    except anyio.get_cancelled_exc_class():
        with open(os.environ["CANCELLED"], "a") as file:
            file.write("cancelled\n")
        raise


@server.prompt()
def greet(name: str) -> str:
    return f"Greet {name}."


@server.resource("memo://note")
def note() -> str:
    return "a note"


def run(port=None):
    if port is None:
        server.run("stdio")
    else:
        server.settings.port = int(port)
        server.run("streamable-http")
