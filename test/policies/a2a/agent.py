"""An agent of the A2A SDK, which repeats what it is told: `agent.py PORT`. It knows itself by its own address alone."""

import sys

import uvicorn
from a2a.helpers.proto_helpers import get_message_text, new_text_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Role
from starlette.applications import Starlette

port = int(sys.argv[1])


class Repeat(AgentExecutor):
    async def execute(self, context, event_queue):
        said = get_message_text(context.message)
        await event_queue.enqueue_event(new_text_message(f"you said {said}", role=Role.ROLE_AGENT))

    async def cancel(self, context, event_queue):
        raise NotImplementedError


card = AgentCard(
    name="repeater",
    description="Repeats",
    version="1",
    capabilities=AgentCapabilities(streaming=True),
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    skills=[AgentSkill(id="repeat", name="repeat", description="Repeats", tags=["text"])],
    supported_interfaces=[
        AgentInterface(
            url=f"http://127.0.0.1:{port}/", protocol_binding="JSONRPC", protocol_version="1.0"
        )
    ],
)
handler = DefaultRequestHandler(
    agent_executor=Repeat(), task_store=InMemoryTaskStore(), agent_card=card
)
app = Starlette(
    routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")]
)
uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
