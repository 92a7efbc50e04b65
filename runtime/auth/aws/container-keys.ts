import { readFile } from "node:fs/promises";
import { fetchResponse } from "../../http/upstream/fetch-response.ts";
import { ExpiringValue } from "../cloud/expiring-value.ts";
import type { AwsKeySource } from "./aws-keys.ts";
import { readMetadataKeys } from "./metadata-keys.ts";

/** Credentials agent of a task in ECS. */
const TASK_AGENT = "http://169.254.170.2";

/**
 * Returns keys from the agent of a container (ECS tasks, EKS Pod Identity); `undefined` if the environment names no agent.
 */
export function containerKeys(env: NodeJS.ProcessEnv): AwsKeySource | undefined {
  const relative = env.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI;
  const url = relative ? `${TASK_AGENT}${relative}` : env.AWS_CONTAINER_CREDENTIALS_FULL_URI;
  if (!url) return undefined;
  const keys = new ExpiringValue("AWS credentials of the container", async () => {
    const token = await tokenOf(env);
    const headers = token === undefined ? [] : ["authorization", token];
    const { body } = await fetchResponse(
      { method: "GET", url, headers },
      { maxBytes: 65_536, deadline: 5_000, expectedStatus: 200 },
    );
    return readMetadataKeys(body);
  });
  return () => keys.current();
}

/** Reads the token each time, because its file changes. */
async function tokenOf(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const file = env.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE;
  if (file) return (await readFile(file, "utf8")).trim();
  return env.AWS_CONTAINER_AUTHORIZATION_TOKEN || undefined;
}
