"""Reads a line of JSON for each result of a list, by the types of the SDK that is installed. Writes those that it refuses."""
import json
import sys

try:
    from mcp import types
except ImportError:
    import mcp_types as types

RESULTS = {
    "tools": types.ListToolsResult,
    "prompts": types.ListPromptsResult,
    "resources": types.ListResourcesResult,
    "resourceTemplates": types.ListResourceTemplatesResult,
}

count = 0
for line in sys.stdin:
    given = json.loads(line)
    result = given["result"]
    [name] = [key for key in RESULTS if key in result]
    count += 1
    try:
        RESULTS[name].model_validate(result)
    except Exception as error:
        print(json.dumps({"refused": result, "reason": str(error)[:400]}))
print(json.dumps({"read": count}))
