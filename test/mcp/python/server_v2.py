"""A server of the Python SDK 2.x (both eras), over streamable HTTP on a port or over stdio; loaded.py runs it."""
import os
from typing import Annotated

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, ListRoots, Resolve, Sample
from mcp_types import CreateMessageResult, ListRootsResult, SamplingMessage, TextContent
from pydantic import BaseModel

server = MCPServer("python")


class Name(BaseModel):
    name: str


async def the_name() -> Elicit[Name]:
    return Elicit("Your name?", Name)


async def the_capital() -> Sample:
    question = TextContent(type="text", text="Capital of France?")
    return Sample([SamplingMessage(role="user", content=question)], max_tokens=10)


async def the_roots() -> ListRoots:
    return ListRoots()


@server.tool()
def add(a: int, b: int) -> int:
    return a + b


@server.tool()
async def steps(ctx: Context) -> str:
    for step in range(3):
        await ctx.report_progress(step, 2)
    return "done"


@server.tool()
async def ask_user(name: Annotated[Name, Resolve(the_name)]) -> str:
    return f"Hello, {name.name}!"


@server.tool()
async def ask_model(said: Annotated[CreateMessageResult, Resolve(the_capital)]) -> str:
    return f"The model says {said.content.text}"


@server.tool()
async def ask_roots(found: Annotated[ListRootsResult, Resolve(the_roots)]) -> str:
    return str([str(root.uri) for root in found.roots])


@server.tool()
async def touch(ctx: Context) -> str:
    await ctx.notify_resource_updated("memo://note")
    await ctx.notify_tools_changed()
    return "touched"


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
        server.run("streamable-http", host="127.0.0.1", port=int(port))
