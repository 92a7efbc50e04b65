"""A client of the Python SDK 1.x (sessions): takes a line of JSON for each connection, and writes one of what its steps gave."""
import asyncio
import json
import sys
import traceback

import anyio
from mcp import ClientSession, types
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from pydantic import AnyUrl


async def elicit(_context, params):
    fields = params.requestedSchema.get("properties", {})
    return types.ElicitResult(action="accept", content={name: f"my {name}" for name in fields})


async def sample(_context, _params):
    content = types.TextContent(type="text", text="Paris")
    return types.CreateMessageResult(role="assistant", content=content, model="m")


async def roots(_context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///r")])


heard = []


async def hear(message):
    if isinstance(message, types.ServerNotification):
        heard.append(message.root.method)


async def run(session, step):
    match step["do"]:
        case "tools":
            return [tool.name for tool in (await session.list_tools()).tools]
        case "call":
            progress = []

            async def on_progress(done, _total, _message):
                progress.append(done)

            result = await session.call_tool(step["name"], step.get("arguments", {}), progress_callback=on_progress)
            return {"text": result.content[0].text, "progress": progress}
        case "prompt":
            result = await session.get_prompt(step["name"], step["arguments"])
            return result.messages[0].content.text
        case "read":
            return (await session.read_resource(AnyUrl(step["uri"]))).contents[0].text
        case "hear":
            if "uri" in step:
                await session.subscribe_resource(AnyUrl(step["uri"]))
            while not set(step["methods"]) <= set(heard):
                await session.call_tool(step["call"], {})
                await anyio.sleep(0.1)
            return True
        case "cancel":
            began = anyio.Event()

            async def on_begun(_done, _total, _message):
                began.set()

            id = session._request_id
            async with anyio.create_task_group() as group:
                async def call():
                    try:
                        await session.call_tool(step["name"], {}, progress_callback=on_begun)
                    except Exception:
                        pass

                group.start_soon(call)
                await began.wait()
                params = types.CancelledNotificationParams(requestId=id)
                await session.send_notification(types.ClientNotification(types.CancelledNotification(params=params)))
                await anyio.sleep(0.5)
                group.cancel_scope.cancel()
            return True


async def main(task):
    heard.clear()
    http = create_mcp_http_client(headers={"authorization": task["token"]})
    async with streamable_http_client(task["url"], http_client=http) as (read, write, _):
        async with ClientSession(
            read, write, elicitation_callback=elicit, sampling_callback=sample, list_roots_callback=roots, message_handler=hear
        ) as session:
            version = (await session.initialize()).protocolVersion
            results = []
            for step in task["steps"]:
                with anyio.fail_after(60):
                    results.append(await run(session, step))
            return {"version": version, "results": results}


for line in sys.stdin:
    try:
        answer = asyncio.run(main(json.loads(line)))
    except Exception:
        answer = {"error": traceback.format_exc()}
    print(json.dumps(answer), flush=True)
