import { expect, it } from "vitest";
import { converted, sources, sourceText, vanished } from "./vanished.ts";

it.each(sources)(
  "%s has every setting in the imported file, in a comment or in a DECIDE line",
  (name) => {
    const text = sourceText(name);
    expect(converted(name, text)).toContain("# Imported from");
    expect(vanished(name, text)).toEqual([]);
  },
);

it("names and durations of nginx that gwc reads differently", () => {
  const text = (directives: string) =>
    `upstream my_app { server 10.0.0.1:80; }\nserver { listen 8080; location / { proxy_pass http://my_app; ${directives} } }\n`;
  expect(converted("a.conf", text("proxy_read_timeout 5d;"))).toContain("requestTimeout: 120h");
  expect(converted("a.conf", text('proxy_read_timeout "1h 30m";'))).toContain(
    "requestTimeout: 1h30m",
  );
  for (const value of ["$t", "${T}", "soon"])
    expect(converted("a.conf", text(`proxy_connect_timeout ${value};`))).toContain(
      `#   line 2: proxy_connect_timeout ${value}\n`,
    );
  expect(converted("a.conf", text(""))).not.toContain("full: my_app");
});

it("addresses of Caddy sites that come from variables", () => {
  const site = (address: string) => converted("Caddyfile", `${address} {\n\trespond "ok"\n}\n`);
  expect(site("{$DOMAIN:a.test}")).toContain("${DOMAIN:-a.test}");
  expect(site("{$D}:8080")).toMatch(/DECIDE: line 1: the host name is that of the variable D/);
  expect(site("{$D}:8080")).toContain("${D:-localhost}");
});

it("every model of Envoy AI Gateway, and settings with key in their names", () => {
  const read = (name: string) => converted(name, sourceText(name));
  expect(read("envoy-ai-gateway.yaml")).toContain('name: "*"');
  expect(read("litellm.yaml")).toContain("default_key_generate_params.max_budget: 10");
});
