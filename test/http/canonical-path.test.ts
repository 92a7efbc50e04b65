import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalPath } from "../../runtime/http/routing/path.ts";

describe("the one form of a path", () => {
  it.each([
    ["/", "/"],
    ["/a/b", "/a/b"],
    ["/a/b/", "/a/b/"],
    ["/%61dmin", "/admin"],
    ["/%7Euser/%2d%5F", "/~user/-_"],
    ["//admin", "/admin"],
    ["/a///b//", "/a/b/"],
    ["/a/./b", "/a/b"],
    ["/a/../b", "/b"],
    ["/a/%2e%2E/b", "/b"],
    ["/a/.%2e/b", "/b"],
    ["/a/b/..", "/a/"],
    ["/a/.", "/a/"],
    ["/a//../b", "/b"],
    ["/caf%c3%a9", "/caf%C3%A9"],
    ["/a%20b%3fc", "/a%20b%3Fc"],
    ["/100%25", "/100%25"],
    ["/%2561dmin", "/%2561dmin"],
    ["/.well-known/x", "/.well-known/x"],
    ["/...", "/..."],
    ["/a/..b", "/a/..b"],
    ["/a;b=1/c", "/a;b=1/c"],
    ["/a.;b", "/a.;b"],
    ["/;jsessionid=1", "/;jsessionid=1"],
    ["/a//;b", "/a/;b"],
    ["/a/$&'()*+,=:@", "/a/$&'()*+,=:@"],
  ])("%s is %s", (path, form) => {
    expect(canonicalPath(path)).toBe(form);
  });

  it.each([
    "/..",
    "/../admin",
    "/a/../../admin",
    "/%2e%2e/admin",
    "/a%2fb",
    "/a%2Fb",
    "/a%5cb",
    "/a%00b",
    "/x\\..\\admin",
    "/x/..;/admin",
    "/x/..;a=b/admin",
    "/x/.;/admin",
    "/x/%2e%2e;/admin",
    "/;/admin",
    "/a/;x=1/admin",
    "/%3bx/admin",
    "/x/..%3b/admin",
    "/a%",
    "/a%2",
    "/a%zz",
  ])("%s has none", (path) => {
    expect(canonicalPath(path)).toBeUndefined();
  });

  it("is its own one form, and has no dot segment and no empty one", () => {
    const piece = fc.constantFrom(
      ..."a./;%\\".split(""),
      "%2e",
      "%2E",
      "%61",
      "%25",
      "%2f",
      "%3b",
      "..",
      "//",
      "é",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const form = canonicalPath(`/${pieces.join("")}`);
        if (form === undefined) return;
        expect(canonicalPath(form)).toBe(form);
        const segments = form.slice(1).split("/");
        expect(segments.filter((each) => each === "." || each === "..")).toEqual([]);
        expect(segments.slice(0, -1)).not.toContain("");
      }),
      { numRuns: 5000 },
    );
  });
});
