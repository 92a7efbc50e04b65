import { kinds } from "../../1-parse/kubernetes/kinds.ts";
import type { ResourceType } from "./api-object.ts";
import type { ApiServer } from "./api-server.ts";
import { itemsField, recordOf, textField } from "./json-fields.ts";

/**
 * The kinds that gwc reads, as far as the API server serves them, each in the first version that both know. A kind whose
 * definition is not installed is not there.
 */
export async function servedTypes(api: ApiServer): Promise<readonly ResourceType[]> {
  const groups = [...new Set(kinds.flatMap((row) => row.groups))];
  const served = await Promise.all(groups.map((group) => servedInGroup(group, api)));
  return kinds.flatMap(({ names, groups: own, versions }) =>
    own.flatMap((group): readonly ResourceType[] => {
      const all = served[groups.indexOf(group)] ?? [];
      const found = versions.flatMap((version) =>
        all.filter((each) => each.version === version && names.includes(each.kind)),
      );
      return found.slice(0, 1);
    }),
  );
}

/** Everything that a group serves, in all of its versions. */
async function servedInGroup(group: string, api: ApiServer): Promise<readonly ResourceType[]> {
  if (group === "") return servedInVersion(group, "v1", api);
  const { status, body } = await api.request({ method: "GET", path: `/apis/${group}` });
  if (status === 404) return [];
  if (status !== 200) throw new Error(`the API group ${group} has status ${status}`);
  const versions = itemsField(body, "versions").flatMap((each) => textField(each, "version") ?? []);
  const all = await Promise.all(versions.map((each) => servedInVersion(group, each, api)));
  return all.flat();
}

async function servedInVersion(
  group: string,
  version: string,
  api: ApiServer,
): Promise<readonly ResourceType[]> {
  const path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const { status, body } = await api.request({ method: "GET", path });
  if (status === 404) return [];
  if (status !== 200) throw new Error(`${path} has status ${status}`);
  return itemsField(body, "resources").flatMap((each): readonly ResourceType[] => {
    const [kind, plural] = [textField(each, "kind"), textField(each, "name")];
    // `httproutes/status` is a part of another one.
    if (kind === undefined || plural === undefined || plural.includes("/")) return [];
    return [{ group, version, kind, plural, isNamespaced: recordOf(each)?.namespaced === true }];
  });
}
