"""Clients in Python: takes a line of JSON with the client, the address and the calls, and writes one of what the client found."""
import asyncio
import json
import sys
import traceback

ASKING, APP = "python_ask_user", "ui://app/get-time/mcp-app.html"


def texts(result):
    return json.dumps([getattr(block, "text", "") for block in result.content])


async def sdk(url, calls):
    import mcp_types as types
    from mcp.client.client import Client

    async def elicit(_context, _params):
        return types.ElicitResult(action="accept", content={"name": "Ada"})

    async with Client(url, elicitation_callback=elicit) as client:
        tools = (await client.list_tools()).tools
        results = [texts(await client.call_tool(call["tool"], call["arguments"])) for call in calls]
        asked = texts(await client.call_tool(ASKING, {}))
        app = (await client.read_resource(APP)).contents[0].text
    return {"tools": len(tools), "results": results, "asked": asked, "app": app}


async def fastmcp(url, calls):
    from fastmcp import Client

    async def elicit(_message, response_type, _params, _context):
        return response_type(name="Ada")

    # A slow first response would make it choose the older revision.
    async with Client(url, elicitation_handler=elicit, mode="2026-07-28") as client:
        tools = await client.list_tools()
        results = [texts(await client.call_tool(call["tool"], call["arguments"])) for call in calls]
        asked = texts(await client.call_tool(ASKING, {}, raise_on_error=False))
        app = (await client.read_resource(APP))[0].text
    return {"tools": len(tools), "results": results, "asked": asked, "app": app}


async def agents(url, calls):
    from agents.mcp import MCPServerStreamableHttp

    async with MCPServerStreamableHttp(params={"url": url}, client_session_timeout_seconds=300) as server:
        tools = await server.list_tools()
        results = [texts(await server.call_tool(call["tool"], call["arguments"])) for call in calls]
        asked = await failure(server.call_tool(ASKING, {}))
        app = (await server.read_resource(APP)).contents[0].text
    return {"tools": len(tools), "results": results, "asked": asked, "app": app}


async def langchain(url, calls):
    from langchain_mcp_adapters.callbacks import Callbacks
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from langchain_mcp_adapters.callbacks import MCPElicitResult
    from langchain_mcp_adapters.resources import load_mcp_resources
    from langchain_mcp_adapters.tools import load_mcp_tools

    async def elicit(_mcp_context, _params, _context):
        return MCPElicitResult(action="accept", content={"name": "Ada"})

    connection = {"transport": "streamable_http", "url": url}
    client = MultiServerMCPClient({"gateway": connection}, callbacks=Callbacks(on_elicitation=elicit))
    # Without a session of its own, each call opens one, and starts all servers.
    async with client.session("gateway") as session:
        tools = {tool.name: tool for tool in await load_mcp_tools(session)}
        results = [json.dumps(await tools[call["tool"]].ainvoke(call["arguments"])) for call in calls]
        asked = json.dumps(await tools[ASKING].ainvoke({}))
        app = (await load_mcp_resources(session, uris=[APP]))[0].as_string()
    return {"tools": len(tools), "results": results, "asked": asked, "app": app}


async def failure(call):
    try:
        return texts(await call)
    except Exception as error:
        return str(error)


CLIENTS = {"sdk": sdk, "fastmcp": fastmcp, "agents": agents, "langchain": langchain}
for line in sys.stdin:
    task = json.loads(line)
    try:
        answer = asyncio.run(CLIENTS[task["client"]](task["url"], task["calls"]))
    except Exception:
        answer = {"error": traceback.format_exc()[-3000:]}
    print(json.dumps(answer), flush=True)
