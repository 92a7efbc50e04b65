"""A client of the Python SDK 2.x: takes a line of JSON for each connection, and writes one of what its steps gave."""
import asyncio
import json
import sys
import traceback

import anyio
import mcp_types as types
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client


async def elicit(_context, params):
    fields = params.requested_schema.get("properties", {})
    return types.ElicitResult(action="accept", content={name: f"my {name}" for name in fields})


async def sample(_context, _params):
    content = types.TextContent(type="text", text="Paris")
    return types.CreateMessageResult(role="assistant", content=content, model="m")


async def roots(_context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///r")])


heard = []


async def hear(message):
    if hasattr(message, "method"):
        heard.append(message.method)


async def run(client, step):
    match step["do"]:
        case "tools":
            return [tool.name for tool in (await client.list_tools()).tools]
        case "call":
            progress = []

            async def on_progress(done, _total, _message):
                progress.append(done)

            result = await client.call_tool(step["name"], step.get("arguments", {}), progress_callback=on_progress)
            return {"text": result.content[0].text, "progress": progress}
        case "prompt":
            result = await client.get_prompt(step["name"], step["arguments"])
            return result.messages[0].content.text
        case "read":
            return (await client.read_resource(step["uri"])).contents[0].text
        case "hear":
            if client.protocol_version < "2026-07-28":
                if "uri" in step:
                    await client.subscribe_resource(step["uri"])
                while not set(step["methods"]) <= set(heard):
                    await client.call_tool(step["call"], {})
                    await anyio.sleep(0.1)
                return True
            wanted = {"resource_subscriptions": [step["uri"]]} if "uri" in step else {}
            async with client.listen(tools_list_changed=True, **wanted) as subscription:
                await client.call_tool(step["call"], {})
                kinds = set()
                async for event in subscription:
                    kinds.add(type(event).__name__)
                    if len(kinds) == len(step["methods"]):
                        return True
        case "cancel":
            began = anyio.Event()

            async def on_begun(_done, _total, _message):
                began.set()

            async with anyio.create_task_group() as group:
                async def call():
                    await client.call_tool(step["name"], {}, progress_callback=on_begun)

                group.start_soon(call)
                await began.wait()
                group.cancel_scope.cancel()
            return True


async def main(task):
    heard.clear()
    http = create_mcp_http_client(headers={"authorization": task["token"]})
    async with Client(
        streamable_http_client(task["url"], http_client=http), mode=task["mode"], elicitation_callback=elicit, sampling_callback=sample,
        list_roots_callback=roots, message_handler=hear,
    ) as client:
        results = []
        for step in task["steps"]:
            with anyio.fail_after(60):
                results.append(await run(client, step))
        return {"version": client.protocol_version, "results": results}


for line in sys.stdin:
    try:
        answer = asyncio.run(main(json.loads(line)))
    except Exception:
        answer = {"error": traceback.format_exc()}
    print(json.dumps(answer), flush=True)
