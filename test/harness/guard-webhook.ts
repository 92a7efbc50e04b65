import path from "node:path";
import { root } from "./root.ts";
import { seenFile } from "./seen-file.ts";
import { TestProcess } from "./test-process.ts";
import { program } from "./tool.ts";

/** A message as the webhook got it. */
interface WebhookMessage {
  readonly role: string;
  readonly content: string;
}

/** A request that it got. */
export interface WebhookCall {
  readonly kind: string;
  readonly phase: "request" | "response";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: {
    readonly messages?: readonly WebhookMessage[];
    readonly choices?: readonly { readonly message: WebhookMessage }[];
  };
}

/** A webhook for guards, in Python (guard-webhook.py says what it does). */
export interface GuardWebhook {
  readonly url: string;
  /** The requests that it received, in order, including all that it responded to. */
  seen(): readonly WebhookCall[];
}

/** Starts one; it is gone at the end of the test. */
export async function startGuardWebhook(): Promise<GuardWebhook> {
  const script = path.join(root, "test", "harness", "guard-webhook.py");
  const seen = seenFile<WebhookCall>();
  const running = new TestProcess(program("python3"), [script], { env: seen.env });
  const [, port] = await running.seen(/^port (\d+)$/m);
  return {
    url: `http://127.0.0.1:${port}`,
    seen: seen.read,
  };
}
