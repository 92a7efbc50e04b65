import { expect, it } from "vitest";
import { strategicMerge } from "../../templates/kubernetes/strategic-merge.ts";

const pod = {
  replicas: 1,
  labels: { a: "1", b: "2" },
  containers: [
    { name: "gateway", image: "old", env: [{ name: "A", value: "1" }], args: ["x", "y"] },
    { name: "other", image: "same" },
  ],
  tolerations: [{ key: "a" }],
};

it.each([
  { what: "a scalar replaces", patch: { replicas: 3 }, path: "replicas", found: 3 },
  {
    what: "maps are merged",
    patch: { labels: { b: "3", c: "4" } },
    path: "labels",
    found: { a: "1", b: "3", c: "4" },
  },
  {
    what: "null takes a field out",
    patch: { labels: { b: null } },
    path: "labels",
    found: { a: "1" },
  },
  {
    what: "$patch: delete takes a map out",
    patch: { labels: { $patch: "delete" } },
    path: "labels",
    found: undefined,
  },
  {
    what: "$patch: replace replaces a map",
    patch: { labels: { $patch: "replace", z: "1" } },
    path: "labels",
    found: { z: "1" },
  },
  {
    what: "a keyed list is merged by key and appended to",
    patch: { containers: [{ name: "gateway", image: "new" }, { name: "added" }] },
    path: "containers",
    found: [
      { name: "gateway", image: "new", env: [{ name: "A", value: "1" }], args: ["x", "y"] },
      { name: "other", image: "same" },
      { name: "added" },
    ],
  },
  {
    what: "keyed lists inside keyed lists are merged",
    patch: { containers: [{ name: "gateway", env: [{ name: "B", value: "2" }], args: ["z"] }] },
    path: "containers.0",
    found: {
      name: "gateway",
      image: "old",
      env: [
        { name: "A", value: "1" },
        { name: "B", value: "2" },
      ],
      args: ["z"],
    },
  },
  {
    what: "$patch: delete takes a list's item out",
    patch: { containers: [{ name: "other", $patch: "delete" }] },
    path: "containers.length",
    found: 1,
  },
  {
    what: "$patch: replace replaces a list",
    patch: { containers: [{ $patch: "replace" }, { name: "only" }] },
    path: "containers",
    found: [{ name: "only" }],
  },
  {
    what: "$retainKeys keeps only what it names",
    patch: { labels: { $retainKeys: ["b", "c"], c: "4" } },
    path: "labels",
    found: { b: "2", c: "4" },
  },
  {
    what: "$patch: merge is what happens without it",
    patch: { labels: { $patch: "merge", c: "4" } },
    path: "labels",
    found: { a: "1", b: "2", c: "4" },
  },
  {
    what: "$deleteFromPrimitiveList takes items out of a list",
    patch: { containers: [{ name: "gateway", "$deleteFromPrimitiveList/args": ["x"] }] },
    path: "containers.0.args",
    found: ["y"],
  },
  {
    what: "$setElementOrder puts the items that it names in order",
    patch: { "$setElementOrder/containers": [{ name: "other" }, { name: "gateway" }] },
    path: "containers.0.name",
    found: "other",
  },
  {
    what: "$setElementOrder orders scalars, and leaves others in their places",
    patch: {
      containers: [{ name: "gateway", args: ["x", "y", "z"], "$setElementOrder/args": ["z", "x"] }],
    },
    path: "containers.0.args",
    found: ["z", "y", "x"],
  },
  {
    what: "a list without key is replaced",
    patch: { tolerations: [{ key: "b" }] },
    path: "tolerations",
    found: [{ key: "b" }],
  },
])("$what", ({ patch, path, found }) => {
  const merged = strategicMerge(pod, patch);
  const at = path
    .split(".")
    .reduce<unknown>((value, step) => Reflect.get(Object(value), step), merged);
  expect(at).toEqual(found);
});
