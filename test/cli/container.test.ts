import { beforeAll, expect, it } from "vitest";
import { writeFiles } from "../../compiler/4-emit/write.ts";
import { memoryHost } from "../../compiler/host.ts";
import { compileFile } from "../harness/compile-file.ts";
import { ContainerEngine } from "../harness/container-engine.ts";
import { freePorts } from "../harness/free-port.ts";
import { describeUnless, NOT_LONG } from "../harness/skip.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { program } from "../harness/tool.ts";

const NOT_ROOT = process.getuid?.() === 0 ? undefined : "needs root";

/** Script that prints the rights of its process. */
const RIGHTS = `
  const { readFileSync, writeFileSync } = require("fs");
  const may = (file) => { try { writeFileSync(file, ""); return true; } catch (error) { return error.code; } };
  const status = readFileSync("/proc/1/status", "utf8");
  const field = (name) => status.match(new RegExp("^" + name + ":\\\\s+(\\\\S+)", "m"))[1];
  console.log(JSON.stringify({
    user: [process.getuid(), process.getgid()], capabilities: field("CapBnd"), noNewPrivileges: field("NoNewPrivs"),
    root: may("/file"), folder: may("/gateway/file"), tmp: may("/tmp/file"),
  }));`;

describeUnless(NOT_LONG ?? NOT_ROOT)(
  "a generated Dockerfile, built and run without a daemon",
  () => {
    let engine: ContainerEngine;
    let image: string;
    let port: number;

    beforeAll(async () => {
      for (const tool of ["buildah", "podman", "runc"] as const) program(tool);
      const [client = 0, stats = 0, ready = 0] = await freePorts(3);
      const yaml = `
config: {statsAddr: "127.0.0.1:${stats}", readinessAddr: "127.0.0.1:${ready}"}
binds: [{port: ${client}, listeners: [{routes: [{policies: {directResponse: {status: 204}}}]}]}]
`;
      const host = memoryHost({ "gateway.yaml": yaml });
      const { files } = await compileFile("gateway.yaml", { name: "image", host });
      const folder = temporaryFolder();
      writeFiles(folder, files);
      port = client;
      engine = new ContainerEngine();
      const base = await engine.buildBase();
      image = await engine.build("localhost/gateway:1", folder, "--build-arg", `BASE=${base}`);
    });

    it("serves, and its health check reports it", async () => {
      const container = engine.start("served", image);
      await container.seen(/readiness address on/);
      expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(204);
      expect(await engine.podman("healthcheck", "run", "served")).toBe("");
    });

    it("has no right but to write to /tmp", async () => {
      const container = engine.start("limited", image);
      await container.seen(/readiness address on/);
      expect(JSON.parse(await engine.podman("exec", "limited", "node", "-e", RIGHTS))).toEqual({
        user: [10101, 10101],
        capabilities: "0000000000000000",
        noNewPrivileges: "1",
        root: "EROFS",
        folder: "EROFS",
        tmp: true,
      });
    });

    it("drains and exits with 0 when the engine stops it", async () => {
      const container = engine.start("stopped", image);
      await container.seen(/readiness address on/);
      await engine.podman("stop", "--time", "60", "stopped");
      expect(await container.exited).toBe(0);
    });

    it("has one small layer more than its base image", async () => {
      const layers = async (name: string) =>
        JSON.parse(
          await engine.podman("image", "inspect", "--format", "{{json .RootFS.Layers}}", name),
        );
      const base = await layers("localhost/base");
      expect((await layers(image)).slice(0, base.length)).toEqual(base);
    });

    it("answers the options of a bundle and exits", async () => {
      for (const [option, answer] of [
        ["--version", /^gwc \S+, configuration [0-9a-f]{12}\n$/],
        ["--check", /^image can start/],
        ["--help", /^Usage: node gateway.mjs/],
      ] as const) {
        const container = engine.start(`option${option}`, image, option);
        expect([option, await container.exited]).toEqual([option, 0]);
        expect(container.stdout).toMatch(answer);
      }
    });
  },
);
