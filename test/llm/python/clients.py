"""What the Python SDKs of OpenAI, Anthropic, Google and AWS read through a gateway.

Each line of its input is a JSON object: the format of a client, and a list of routes, each with the address of the
gateway's route, the model and the prompt that is never finished. Prints a JSON list in a line, with an object for each
route: what was read for each feature, or the class and the status of the error.
"""

import json
import sys

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
FORECAST = {
    "type": "object",
    "properties": {"degrees": {"type": "integer"}},
    "required": ["degrees"],
    "additionalProperties": False,
}


class Completions:
    def __init__(self, url, model):
        import openai

        self.client = openai.OpenAI(api_key="client", base_url=f"{url}/v1", max_retries=0)
        self.model = model

    def ask(self, prompt, **options):
        messages = [{"role": "user", "content": prompt}]
        create = self.client.chat.completions.create
        return create(model=self.model, messages=messages, max_completion_tokens=4000, **options)

    def text(self, prompt):
        return self.ask(prompt).choices[0].message.content

    def pieces(self, prompt):
        stream = self.ask(prompt, stream=True)
        return stream, (chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)

    def calls(self, prompt):
        function = {"name": "get_weather", "description": "Weather", "parameters": WEATHER}
        message = self.ask(prompt, tools=[{"type": "function", "function": function}]).choices[0].message
        return [json.loads(call.function.arguments) for call in message.tool_calls]

    def parsed(self, prompt):
        import pydantic

        forecast = pydantic.create_model("Forecast", degrees=(int, ...))
        messages = [{"role": "user", "content": prompt}]
        parse = self.client.chat.completions.parse
        return parse(model=self.model, messages=messages, response_format=forecast).choices[0].message.parsed.degrees


class Responses(Completions):
    def ask(self, prompt, **options):
        create = self.client.responses.create
        return create(model=self.model, input=prompt, max_output_tokens=4000, store=False, **options)

    def text(self, prompt):
        return self.ask(prompt).output_text

    def pieces(self, prompt):
        stream = self.ask(prompt, stream=True)
        texts = (event.delta for event in stream if event.type == "response.output_text.delta")
        return stream, texts

    def calls(self, prompt):
        function = {"type": "function", "name": "get_weather", "parameters": WEATHER, "strict": None}
        output = self.ask(prompt, tools=[function]).output
        return [json.loads(item.arguments) for item in output if item.type == "function_call"]

    def parsed(self, prompt):
        import pydantic

        forecast = pydantic.create_model("Forecast", degrees=(int, ...))
        return self.client.responses.parse(model=self.model, input=prompt, text_format=forecast).output_parsed.degrees


class Messages:
    def __init__(self, url, model):
        import anthropic

        self.client = anthropic.Anthropic(api_key="client", base_url=url, max_retries=0)
        self.model = model

    def ask(self, prompt, **options):
        messages = [{"role": "user", "content": prompt}]
        return self.client.messages.create(model=self.model, messages=messages, max_tokens=4000, **options)

    def text(self, prompt):
        return self.ask(prompt).content[0].text

    def pieces(self, prompt):
        stream = self.ask(prompt, stream=True)
        deltas = (event.delta for event in stream if event.type == "content_block_delta")
        return stream, (delta.text for delta in deltas)

    def calls(self, prompt):
        tool = {"name": "get_weather", "description": "Weather", "input_schema": WEATHER}
        content = self.ask(prompt, tools=[tool]).content
        return [block.input for block in content if block.type == "tool_use"]

    def parsed(self, prompt):
        config = {"format": {"type": "json_schema", "schema": FORECAST}}
        return json.loads(self.ask(prompt, output_config=config).content[0].text)["degrees"]


class GenerateContent:
    def __init__(self, url, model):
        from google import genai

        options = {"base_url": url, "retry_options": {"attempts": 1}}
        # The client closes its connections when it is collected.
        self.client = genai.Client(api_key="client", http_options=options)
        self.models = self.client.models
        self.model = model

    def ask(self, prompt, create=None, **options):
        config = {"max_output_tokens": 4000, "system_instruction": "Be brief.", **options}
        return (create or self.models.generate_content)(model=self.model, contents=prompt, config=config)

    def text(self, prompt):
        return self.ask(prompt).text

    def pieces(self, prompt):
        stream = self.ask(prompt, self.models.generate_content_stream)
        return stream, (chunk.text or "" for chunk in stream)

    def calls(self, prompt):
        def get_weather(city: str) -> str:
            """Weather"""
            return ""

        off = {"disable": True}
        response = self.ask(prompt, tools=[get_weather], automatic_function_calling=off)
        return [dict(call.args) for call in response.function_calls]

    def parsed(self, prompt):
        import pydantic

        forecast = pydantic.create_model("Forecast", degrees=(int, ...))
        options = {"response_mime_type": "application/json", "response_schema": forecast}
        return self.ask(prompt, **options).parsed.degrees


class Converse:
    def __init__(self, url, model):
        import boto3
        from botocore.config import Config

        self.client = boto3.client(
            "bedrock-runtime",
            region_name="us-east-1",
            endpoint_url=url,
            aws_access_key_id="a",
            aws_secret_access_key="b",
            config=Config(retries={"total_max_attempts": 1}),
        )
        self.model = model

    def ask(self, prompt, create=None, **options):
        messages = [{"role": "user", "content": [{"text": prompt}]}]
        create = create or self.client.converse
        return create(modelId=self.model, messages=messages, inferenceConfig={"maxTokens": 4000}, **options)

    def content(self, prompt, **options):
        return self.ask(prompt, **options)["output"]["message"]["content"]

    def text(self, prompt):
        return self.content(prompt)[0]["text"]

    def pieces(self, prompt):
        stream = self.ask(prompt, self.client.converse_stream)["stream"]
        deltas = (event["contentBlockDelta"]["delta"] for event in stream if "contentBlockDelta" in event)
        return stream, (delta.get("text", "") for delta in deltas)

    def calls(self, prompt):
        spec = {"name": "get_weather", "description": "Weather", "inputSchema": {"json": WEATHER}}
        content = self.content(prompt, toolConfig={"tools": [{"toolSpec": spec}]})
        return [block["toolUse"]["input"] for block in content if "toolUse" in block]

    def parsed(self, prompt):
        schema = {"name": "forecast", "schema": json.dumps(FORECAST)}
        text_format = {"type": "json_schema", "structure": {"jsonSchema": schema}}
        return json.loads(self.content(prompt, outputConfig={"textFormat": text_format})[0]["text"])["degrees"]


def raised(action):
    try:
        return action()
    except Exception as error:
        response = getattr(error, "response", None)
        metadata = response.get("ResponseMetadata", {}) if isinstance(response, dict) else {}
        # The SDKs of OpenAI and Anthropic, of Google, and of AWS.
        statuses = [getattr(error, "status_code", None), getattr(error, "code", None), metadata.get("HTTPStatusCode")]
        status = next((each for each in statuses if isinstance(each, int)), None)
        return {"class": type(error).__name__, "status": status, "message": str(error)}


def streamed(client, prompt):
    _, pieces = client.pieces(prompt)
    return "".join(pieces)


def abandoned(client, prompt):
    stream, pieces = client.pieces(prompt)
    first = next(piece for piece in pieces if piece)
    stream.close()
    return first


CLIENTS = {
    "completions": Completions,
    "responses": Responses,
    "messages": Messages,
    "generate-content": GenerateContent,
    "converse": Converse,
}


def readings(client_format, url, model, endless):
    client = CLIENTS[client_format](url, model)
    return {
        "text": raised(lambda: client.text("[text]")),
        "stream": raised(lambda: streamed(client, "[text]")),
        "calls": raised(lambda: client.calls("[parallel tools]")),
        "parsed": raised(lambda: client.parsed("[json schema]")),
        "invalid": raised(lambda: client.text("[error 400]")),
        "limited": raised(lambda: client.text("[error 429]")),
        "failed": raised(lambda: streamed(client, "[error after 200]")),
        "cut": raised(lambda: streamed(client, "[EOF]")),
        "abandoned": raised(lambda: abandoned(client, endless)),
    }


for line in sys.stdin:
    task = json.loads(line)
    print(json.dumps([readings(task["format"], **route) for route in task["routes"]]), flush=True)
