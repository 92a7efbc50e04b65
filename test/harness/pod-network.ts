import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";

/** Address of the gateway of the pod network, which is everything but pods. */
export const NODE_ADDRESS = "10.244.0.1";

/** Command prefix that gives a command its own network, mounts and processes, all of which end with it. */
export const ISOLATED = [
  "unshare",
  "--net",
  "--mount",
  "--pid",
  "--fork",
  "--kill-child",
  "--mount-proc",
];

/** Why networks of pods are impossible; `undefined` if they are possible. */
export function missingNetwork(): string | undefined {
  try {
    const [command = "", ...parameters] = ISOLATED;
    execFileSync(command, [...parameters, "ip", "netns", "list"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "networks need root, `unshare` and `ip`";
  }
}

/**
 * A network of pods as Kubernetes has it: each pod has an address of its own, and reaches all others. It changes the
 * network and the mounts of this process: only for one that was started with `ISOLATED`.
 */
export class PodNetwork {
  #count = 0;

  constructor() {
    const interfaces = readFileSync("/proc/net/dev", "utf8").split("\n").slice(2, -1);
    if (interfaces.length > 1) throw new Error("this process has the network of the machine");
    run("mount", "-t", "tmpfs", "tmpfs", "/run");
    // Mounts of pods are created in memory, not on the machine.
    for (const folder of ["/etc", "/var"]) {
      const [upper, work] = ["upper", "work"].map((name) => `/run/over${folder}/${name}`);
      for (const each of [upper, work]) mkdirSync(each ?? "", { recursive: true });
      const layers = `lowerdir=${folder},upperdir=${upper},workdir=${work}`;
      run("mount", "-t", "overlay", "-o", layers, "overlay", folder);
    }
    run("ip", "link", "set", "lo", "up");
    run("ip", "link", "add", "pods", "type", "bridge");
    run("ip", "address", "add", `${NODE_ADDRESS}/16`, "dev", "pods");
    run("ip", "link", "set", "pods", "up");
    // The API server wants to know where it would be found.
    run("ip", "route", "add", "default", "dev", "pods");
  }

  /** Makes a place for a pod: its name for `ip netns`, and its address. */
  add(): { readonly name: string; readonly address: string } {
    const number = ++this.#count;
    const name = `pod${number}`;
    const address = `10.244.${(number >> 8) + 1}.${number & 255}`;
    run("ip", "netns", "add", name);
    run(
      "ip",
      "link",
      "add",
      `veth${number}`,
      "type",
      "veth",
      "peer",
      "name",
      "eth0",
      "netns",
      name,
    );
    run("ip", "link", "set", `veth${number}`, "master", "pods", "up");
    for (const change of [
      ["address", "add", `${address}/16`, "dev", "eth0"],
      ["link", "set", "eth0", "up"],
      ["link", "set", "lo", "up"],
    ])
      run("ip", "-n", name, ...change);
    return { name, address };
  }

  /** Gives a pod another address, unless it has it. */
  assign(name: string, address: string): void {
    run("ip", "-n", name, "address", "replace", `${address}/16`, "dev", "eth0");
  }

  remove(name: string): void {
    run("ip", "netns", "delete", name);
  }
}

function run(command: string, ...parameters: string[]): void {
  execFileSync(command, parameters, { stdio: ["ignore", "ignore", "pipe"] });
}
