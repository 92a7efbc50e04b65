"""Lists everything of a server with the client of FastMCP: takes a line of JSON for each connection, and writes one of the counts."""
import asyncio
import json
import sys
import traceback

from fastmcp import Client


async def main(task):
    async with Client(task["url"], mode=task["mode"]) as client:
        return {
            "tools": len(await client.list_tools()),
            "prompts": len(await client.list_prompts()),
            "resources": len(await client.list_resources()),
            "resourceTemplates": len(await client.list_resource_templates()),
        }


for line in sys.stdin:
    try:
        answer = asyncio.run(main(json.loads(line)))
    except Exception:
        answer = {"error": traceback.format_exc()[-2000:]}
    print(json.dumps(answer), flush=True)
