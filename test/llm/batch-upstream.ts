import { type Scripted, startScripted } from "../harness/scripted.ts";
import { json } from "./media-upstream.ts";

/** Id of the only file. */
export const FILE = "file-RAW123";

/** Id of the only batch. */
export const BATCH = "batch_RAW456";

/** A provider that stores one file and one batch, and refuses ids that it did not give. */
export function startStore(): Promise<Scripted> {
  return startScripted(async (response, _, request) => {
    const { url, method } = request;
    const file = { id: FILE, object: "file", bytes: 3, filename: "b.jsonl", purpose: "batch" };
    const batch = {
      ...{ id: BATCH, object: "batch", endpoint: "/v1/chat/completions", status: "completed" },
      ...{ input_file_id: FILE, output_file_id: "file-OUT", error_file_id: null },
    };
    if (url === "/v1/files" && method === "POST") json(response, file);
    else if (url === `/v1/files/${FILE}` && method === "GET") json(response, file);
    else if (url === `/v1/files/${FILE}`) json(response, { id: FILE, deleted: true });
    else if (url === "/v1/files/file-OUT/content") response.end('{"custom_id":"a"}\n');
    else if (url === "/v1/batches" && method === "POST") {
      const { input_file_id: id } = JSON.parse(request.body.toString());
      if (id === FILE) json(response, batch);
      else json(response, { error: { message: `no ${id}` } }, 400);
    } else if (url === `/v1/batches/${BATCH}`) json(response, batch);
    else if (url === `/v1/batches/${BATCH}/cancel`)
      json(response, { ...batch, status: "cancelling" });
    else if (url.startsWith("/v1/messages/batches")) {
      const results = "https://api.anthropic.com/v1/messages/batches/msgbatch_RAW/results";
      if (url.endsWith("/results")) response.end('{"custom_id":"a","result":{"type":"errored"}}\n');
      else json(response, { id: "msgbatch_RAW", type: "message_batch", results_url: results });
    } else json(response, { error: { message: `no ${method} ${url}` } }, 404);
  }, "anything");
}
