import { useState } from "preact/hooks";
import type { KeysData, ProblemData } from "../api/admin-api.ts";
import type { PageProps } from "./app.tsx";
import { isProblem, messageOf, postJson, useData } from "./data.ts";
import { type Column, DataTable } from "./data-table.tsx";
import { amount, dayAndTime, span, visible } from "./format.ts";
import { Icon } from "./icons.tsx";
import { KeyEditor } from "./key-editor.tsx";
import { type KeyForm, keyBody, NewKeyForm } from "./key-form.tsx";
import { Card, Code, CopyButton, Empty, Loading, PageHead, Pill, Problem, Text } from "./parts.tsx";
import { isMembers, parsed } from "./schema-form.tsx";

type Key = KeysData["keys"][number];
type Action = "create" | "update" | "rotate" | "revoke";

/** API keys of the store: everybody who reaches the page may read them; changes need the key of the API for keys. */
export function KeysPage({ gateway }: PageProps) {
  const { data, problem, reload } = useData<KeysData | ProblemData>(
    gateway.has.keys ? "keys" : null,
    10_000,
  );
  const [credential, setCredential] = useState("");
  const [isCreating, setCreating] = useState(false);
  const [made, setMade] = useState<{ readonly name: string; readonly key: string }>();
  const [asked, setAsked] = useState<{ readonly name: string; readonly action: Action }>();
  const [failure, setFailure] = useState<string>();
  const act = async (action: Action, name: string, body: object): Promise<boolean> => {
    setFailure(undefined);
    setAsked(undefined);
    try {
      const sent = { action, name, credential, body: JSON.stringify(body) };
      const result = await postJson<{ status?: number; body?: string; problem?: string }>(
        "keys",
        sent,
      );
      const found = parsed(result.body ?? "");
      const members = isMembers(found) ? found : {};
      if (result.problem !== undefined || result.status === undefined || result.status >= 400) {
        const { error } = members;
        const said = isMembers(error) ? error.message : error;
        setFailure(result.problem ?? String(said ?? `status ${result.status}`));
        return false;
      }
      if (typeof members.key === "string") setMade({ name, key: members.key });
      reload();
      return true;
    } catch (error) {
      setFailure(messageOf(error));
      return false;
    }
  };
  const create = async (form: KeyForm) => {
    if (await act("create", form.name, keyBody(form))) setCreating(false);
  };
  const about =
    "Keys that were made while the gateway runs. The store has a hash of each key, never the key.";
  if (!gateway.has.keys)
    return (
      <>
        <PageHead title="API keys" about={about} />
        <Card>
          <Empty icon="keys" title="This gateway accepts no stored keys">
            Write <code>apiKey: {"{ store: true }"}</code>: see <code>gwc explain guide keys</code>.
          </Empty>
        </Card>
      </>
    );
  const canChange = gateway.has.keysApi;
  const edited =
    asked?.action === "update" && data !== undefined && !isProblem(data)
      ? data.keys.find(({ name, isReplaced }) => name === asked.name && !isReplaced)
      : undefined;
  return (
    <>
      <PageHead title="API keys" about={about}>
        {canChange && (
          <button
            type="button"
            class="button primary"
            aria-expanded={isCreating}
            onClick={() => setCreating(!isCreating)}
          >
            <Icon name="plus" /> New key
          </button>
        )}
      </PageHead>
      {canChange ? (
        <Card class="slim">
          <label class="field inline-field">
            <span class="label">
              Key of the API for keys <small>needed for changes; it stays in this page</small>
            </span>
            <input
              type="password"
              autocomplete="off"
              value={credential}
              onInput={({ currentTarget }) => setCredential(currentTarget.value.trim())}
            />
          </label>
        </Card>
      ) : (
        <p class="soft">
          Use <code>gwc keys</code> to change them, or switch on <code>config.keysApi</code> to
          change them here.
        </p>
      )}
      {failure !== undefined && <Problem>{failure}</Problem>}
      {made !== undefined && (
        <Card class="made" title={`The key "${visible(made.name)}"`}>
          <p>Copy it now: it is shown only once.</p>
          <div class="command">
            <Code>{made.key}</Code>
            <CopyButton text={made.key} label="Copy the key" />
          </div>
          <p class="buttons">
            <button type="button" class="button" onClick={() => setMade(undefined)}>
              Done
            </button>
          </p>
        </Card>
      )}
      {isCreating && (
        <NewKeyForm isReady={credential !== ""} onCreate={(form) => void create(form)} />
      )}
      {edited !== undefined && asked !== undefined && (
        <KeyEditor
          key={edited.name}
          value={edited}
          onSave={(change) => void act("update", edited.name, change)}
          onCancel={() => setAsked(undefined)}
        />
      )}
      {problem !== undefined && <Problem>{problem}</Problem>}
      {data === undefined ? (
        problem === undefined && <Loading />
      ) : isProblem(data) ? (
        <Problem>{data.problem}</Problem>
      ) : (
        <KeyTable
          data={data}
          now={gateway.now}
          canChange={canChange && credential !== ""}
          asked={asked}
          onAsk={setAsked}
          onAct={(action, name) => void act(action, name, {})}
        />
      )}
    </>
  );
}

function KeyTable({
  data: { keys, findings },
  now,
  canChange,
  asked,
  onAsk,
  onAct,
}: {
  data: KeysData;
  now: number;
  canChange: boolean;
  asked: { readonly name: string; readonly action: Action } | undefined;
  onAsk: (asked: { readonly name: string; readonly action: Action } | undefined) => void;
  onAct: (action: Action, name: string) => void;
}) {
  const columns: readonly Column<Key>[] = [
    {
      title: "Name",
      isHead: true,
      cell: ({ name, isReplaced }) => (
        <>
          <Text>{name}</Text>
          {isReplaced && <span class="sub soft">replaced</span>}
        </>
      ),
    },
    { title: "Key", cell: ({ shown }) => <Code>{`${shown}…`}</Code> },
    { title: "Metadata", cell: ({ metadata }) => <Metadata text={metadata} /> },
    {
      title: "Models",
      cell: ({ models }) => <Text>{models === null ? "all" : models.join(", ")}</Text>,
    },
    {
      title: "Limits",
      cell: ({ limits }) =>
        limits.length === 0 ? <span class="soft">none</span> : limits.join(", "),
    },
    { title: "Expires", cell: (key) => <Expiry value={key} now={now} /> },
    ...(canChange
      ? [
          {
            title: "Change",
            class: "nowrap",
            cell: ({ name, isReplaced }: Key) =>
              isReplaced ? null : <Actions name={name} asked={asked} onAsk={onAsk} onAct={onAct} />,
          },
        ]
      : []),
  ];
  return (
    <Card
      class="flush"
      title="Keys"
      note={findings.length === 0 ? amount(keys.length, "key") : findings.join(", ")}
    >
      {keys.length === 0 ? (
        <Empty icon="keys" title="No keys yet">
          <code>gwc keys create NAME</code> makes one.
        </Empty>
      ) : (
        <DataTable
          label="API keys"
          columns={columns}
          rows={keys}
          keyOf={({ name, shown, created }) => `${name} ${shown} ${created}`}
          classOf={({ isReplaced }) => (isReplaced ? "replaced" : "")}
        />
      )}
    </Card>
  );
}

function Metadata({ text }: { text: string }) {
  const found = parsed(text);
  if (!isMembers(found)) return <span class="soft">none</span>;
  return (
    <span class="chips">
      {Object.entries(found).map(([name, value]) => (
        <span key={name} class="chip">
          <Text>{`${name}=${typeof value === "string" ? value : JSON.stringify(value)}`}</Text>
        </span>
      ))}
    </span>
  );
}

function Expiry({ value: { expires }, now }: { value: Key; now: number }) {
  if (expires === null) return <Pill tone="warn">never</Pill>;
  const left = expires - now;
  return (
    <span title={dayAndTime(expires)}>
      <Pill tone={left < 7 * 86_400_000 ? "warn" : "plain"}>
        {left <= 0 ? "expired" : span(left)}
      </Pill>
    </span>
  );
}

function Actions({
  name,
  asked,
  onAsk,
  onAct,
}: {
  name: string;
  asked: { readonly name: string; readonly action: Action } | undefined;
  onAsk: (asked: { readonly name: string; readonly action: Action } | undefined) => void;
  onAct: (action: Action, name: string) => void;
}) {
  if (asked?.name === name && asked.action === "update") return <span class="soft">see above</span>;
  if (asked?.name === name)
    return (
      <>
        <button type="button" class="button danger" onClick={() => onAct(asked.action, name)}>
          {asked.action === "revoke" ? "Revoke" : "Rotate"} {visible(name)}
        </button>{" "}
        <button type="button" class="button" onClick={() => onAsk(undefined)}>
          Cancel
        </button>
      </>
    );
  return (
    <>
      <button
        type="button"
        class="link"
        aria-label={`Edit ${visible(name)}`}
        onClick={() => onAsk({ name, action: "update" })}
      >
        Edit
      </button>{" "}
      <button
        type="button"
        class="link"
        aria-label={`Rotate ${visible(name)}`}
        onClick={() => onAsk({ name, action: "rotate" })}
      >
        Rotate
      </button>{" "}
      <button
        type="button"
        class="link"
        aria-label={`Revoke ${visible(name)}`}
        onClick={() => onAsk({ name, action: "revoke" })}
      >
        Revoke
      </button>
    </>
  );
}
