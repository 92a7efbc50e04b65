import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { atEnd } from "./at-end.ts";
import { freePort } from "./free-port.ts";
import { pause } from "./pause.ts";
import { skip } from "./skip.ts";
import { TestProcess } from "./test-process.ts";
import { program } from "./tool.ts";

const VERSION = "26.5.6";
const run = promisify(execFile);

/** A Keycloak with one realm. */
export interface Keycloak {
  /** Issuer of the realm. */
  readonly issuer: string;
}

/** Starts a Keycloak that keeps everything in memory, with this realm (its representation in the admin API). */
export async function startKeycloak(realm: { readonly realm: string }): Promise<Keycloak> {
  const folder = await installation();
  const port = await freePort();
  const server = new TestProcess(
    path.join(folder, "bin/kc.sh"),
    [
      ...["start", "--optimized", "--http-enabled=true", "--hostname-strict=false"],
      "--cache=local",
      ...["--http-host=127.0.0.1", `--http-port=${port}`],
    ],
    {
      env: {
        KC_BOOTSTRAP_ADMIN_USERNAME: "admin",
        KC_BOOTSTRAP_ADMIN_PASSWORD: "admin",
        // A start is mostly loading classes, which the second compiler only delays.
        JAVA_OPTS_APPEND: "-XX:TieredStopAtLevel=1",
      },
    },
  );
  // Its script passes this signal on to Java, which would survive the end of the script.
  atEnd(() => server.stop("SIGTERM"));
  const url = `http://127.0.0.1:${port}`;
  while (!(await isServing(url))) {
    if (server.hasEnded) throw new Error(server.output);
    await pause(500);
  }
  const form = { client_id: "admin-cli", grant_type: "password", username: "admin" };
  const login = await fetch(`${url}/realms/master/protocol/openid-connect/token`, {
    method: "POST",
    body: new URLSearchParams({ ...form, password: "admin" }),
  });
  const { access_token: token } = Object(await login.json());
  const made = await fetch(`${url}/admin/realms`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(realm),
  });
  if (made.status !== 201) throw new Error(`no realm: ${made.status} ${await made.text()}`);
  return { issuer: `${url}/realms/${realm.realm}` };
}

function isServing(url: string): Promise<boolean> {
  return fetch(`${url}/realms/master`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Returns the folder of Keycloak. The first test that needs it gets it from Maven's registry, for all later runs. */
async function installation(): Promise<string> {
  const folder = path.join(tmpdir(), "gwc-keycloak", VERSION);
  if (existsSync(folder)) return folder;
  mkdirSync(path.dirname(folder), { recursive: true });
  const made = mkdtempSync(`${folder}.`);
  try {
    program("java");
    const artifact = `org.keycloak:keycloak-quarkus-dist:${VERSION}:zip`;
    const options = ["-q", "dependency:copy", `-Dartifact=${artifact}`];
    await run(program("mvn"), [...options, `-DoutputDirectory=${made}`]).catch(() =>
      skip(`Maven cannot fetch ${artifact}`),
    );
    const name = `keycloak-quarkus-dist-${VERSION}.zip`;
    await run(program("unzip"), ["-q", path.join(made, name), "-d", made]);
    const unpacked = path.join(made, `keycloak-${VERSION}`);
    await run(path.join(unpacked, "bin/kc.sh"), ["build", "--db=dev-mem", "--cache=local"]);
    // Another process may have been faster.
    if (!existsSync(folder)) renameSync(unpacked, folder);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  return folder;
}
