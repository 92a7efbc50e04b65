"""What Python's SDKs of OpenAI and Anthropic get through a gateway, apart from chats.

Its argument is the address of a gateway with APIs for media and batches. Prints a JSON object with what was read.
"""

import json
import sys

import anthropic
import openai

url = sys.argv[1]
client = openai.OpenAI(api_key="ann-key", base_url=f"{url}/v1", max_retries=0)
claude = anthropic.Anthropic(api_key="ann-key", base_url=url, max_retries=0)
sound = ("a.wav", b"RIFF\r\n--\r\n", "audio/wav")

read = {}
read["speech"] = len(client.audio.speech.create(model="voice", input="Hi", voice="alloy").read())
read["transcription"] = client.audio.transcriptions.create(
    model="ears", file=sound, timestamp_granularities=["word", "segment"]
).text
stream = client.audio.transcriptions.create(model="ears", file=sound, stream=True)
read["events"] = [event.type for event in stream]
edit = client.images.edit(model="pictures", prompt="A dog", image=[sound, sound])
read["images"] = len(edit.data)
line = {
    "custom_id": "a",
    "method": "POST",
    "url": "/v1/chat/completions",
    "body": {"model": "small", "messages": [{"role": "user", "content": "Hello"}]},
}
file = client.files.create(file=("b.jsonl", json.dumps(line).encode()), purpose="batch")
batch = client.batches.create(
    input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h"
)
read["same"] = batch.input_file_id == file.id
read["output"] = client.files.content(batch.output_file_id).text
message = {"role": "user", "content": "Hello"}
params = {"model": "claude", "max_tokens": 5, "messages": [message]}
created = claude.messages.batches.create(requests=[{"custom_id": "a", "params": params}])
read["results"] = [result.custom_id for result in claude.messages.batches.results(created.id)]
print(json.dumps(read))
