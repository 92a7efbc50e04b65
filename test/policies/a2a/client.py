"""A client of the A2A SDK: `client.py URL TEXT` asks the agent whose card is there, whole and as a stream."""

import asyncio
import sys

import httpx
from a2a.client import A2ACardResolver, ClientConfig
from a2a.client.client_factory import create_client
from a2a.helpers.proto_helpers import get_stream_response_text, new_text_message
from a2a.types import Role, SendMessageRequest


async def main() -> None:
    url, text = sys.argv[1:]
    async with httpx.AsyncClient(timeout=60) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
    print("at", card.supported_interfaces[0].url)
    for streaming in (False, True):
        client = await create_client(card, client_config=ClientConfig(streaming=streaming))
        message = new_text_message(text, role=Role.ROLE_USER)
        async for event in client.send_message(SendMessageRequest(message=message)):
            print(get_stream_response_text(event))
        await client.close()


asyncio.run(main())
