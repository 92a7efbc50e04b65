import { useState } from "preact/hooks";
import type { TryData } from "../api/admin-api.ts";
import type { PageProps } from "./app.tsx";
import { messageOf, postJson } from "./data.ts";
import { amount, visible } from "./format.ts";
import { Icon } from "./icons.tsx";
import {
  callOf,
  type Item,
  type ItemKind,
  itemsIn,
  KINDS,
  questionsIn,
  unlisted,
} from "./mcp-items.ts";
import { Card, Empty, Loading, Pill, Problem, Segmented, Select, Text } from "./parts.tsx";
import { Questions } from "./questions.tsx";
import { History, Noted, Notes, type PastCall, StatusPill, VerdictView } from "./result.tsx";
import { RouteChoice } from "./route-choice.tsx";
import { firstMembers, isMembers, type JsonMembers, parsed } from "./schema-form.tsx";
import {
  type McpMessage,
  type Sender,
  SenderFields,
  type TryResult,
  useSender,
  type Verdict,
} from "./sender.tsx";
import { ItemForm } from "./tool-form.tsx";
import { ToolResult } from "./tool-result.tsx";

interface ItemCall extends PastCall {
  readonly item: string;
  readonly value: JsonMembers;
  readonly result: TryResult;
}

/** Lists the tools, prompts and resources of an MCP route, and calls them. */
export function ToolsPage(props: PageProps) {
  return (
    <RouteChoice
      {...props}
      title="MCP"
      about="Lists the tools, prompts and resources that a caller may use, and calls them through the gateway's own port."
      page="tools"
      kind="mcp"
      empty={
        <Empty icon="tools" title="No route speaks MCP">
          A route with <code>mcp</code> targets appears here: see <code>gwc explain guide mcp</code>
          .
        </Empty>
      }
    >
      {(route) => <Kinds key={route.id} route={route} />}
    </RouteChoice>
  );
}

const CHOICES: readonly (readonly [ItemKind, string])[] = [
  ["tool", KINDS.tool.title],
  ["prompt", KINDS.prompt.title],
  ["resource", KINDS.resource.title],
];

function Kinds({ route }: { route: TryData }) {
  const sender = useSender(route);
  const [kind, setKind] = useState<ItemKind>("tool");
  return (
    <>
      <div class="filters">
        <Segmented label="Use" value={kind} options={CHOICES} onChange={setKind} />
      </div>
      <Playground key={kind} route={route} sender={sender} kind={kind} />
    </>
  );
}

const ERAS = [
  ["sessions", "sessions (2025-06-18)"],
  ["stateless", "no sessions (2026-07-28)"],
] as const;

function Playground({ route, sender, kind }: { route: TryData; sender: Sender; kind: ItemKind }) {
  const words = KINDS[kind];
  const [era, setEra] = useState<(typeof ERAS)[number][0]>("sessions");
  const [items, setItems] = useState<readonly Item[]>();
  const [chosen, setChosen] = useState("");
  const [filter, setFilter] = useState("");
  const [other, setOther] = useState("");
  const [value, setValue] = useState<JsonMembers>({});
  const [isBusy, setBusy] = useState(false);
  const [result, setResult] = useState<TryResult>();
  const [verdict, setVerdict] = useState<Verdict>();
  const [calls, setCalls] = useState<readonly ItemCall[]>([]);
  const item = items?.find(({ name }) => name === chosen) ?? unlisted(chosen);
  const choose = (next: Item) => {
    setChosen(next.name);
    setValue(firstMembers(next.schema));
    setResult(undefined);
    setVerdict(undefined);
  };
  const send = async (message: McpMessage): Promise<TryResult> => {
    setBusy(true);
    setVerdict(undefined);
    try {
      const call = { ...sender.request(true, "POST", ""), mcp: { ...message, era } };
      return await postJson<TryResult>("try", call);
    } catch (error) {
      return { problem: messageOf(error) };
    } finally {
      setBusy(false);
    }
  };
  const list = async () => {
    const listed = await send({ method: words.list, params: {} });
    const found = itemsIn(kind, listed.response?.body ?? "");
    setItems(found);
    const [first] = found ?? [];
    if (first !== undefined) choose(first);
    setResult(found === undefined ? listed : undefined);
  };
  const call = async (more: object = {}) => {
    const message = callOf(kind, chosen, value);
    const called = await send({ ...message, params: { ...message.params, ...more } });
    setResult(called);
    const status = called.response?.status;
    const isGood = status === 200 && !isFailure(called.response?.body ?? "");
    const note =
      status === undefined ? "failed" : isGood ? "ok" : status === 200 ? "error" : `${status}`;
    const past = {
      at: Date.now(),
      title: chosen,
      item: chosen,
      value,
      result: called,
      isGood,
      note,
    };
    setCalls([past, ...calls].slice(0, 20));
  };
  const decide = async () => {
    setResult(undefined);
    try {
      const message = callOf(kind, chosen, {});
      setVerdict(
        await postJson<Verdict>("can", { ...sender.request(false, "POST", ""), mcp: message }),
      );
    } catch (error) {
      setVerdict({ problem: messageOf(error) });
    }
  };
  const asked = questionsIn(result?.response?.body ?? "");
  const shown = (items ?? []).filter(({ name, description }) =>
    `${name} ${description}`.toLowerCase().includes(filter.toLowerCase()),
  );
  return (
    <div class="split">
      <div class="stack">
        <Card title="Caller" note={visible(route.origin)}>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void list();
            }}
          >
            <SenderFields route={route} sender={sender} />
            <Select label="As a client with" value={era} options={ERAS} onChange={setEra} />
            <p class="buttons">
              <button type="submit" class="button primary" disabled={isBusy}>
                <Icon name="refresh" /> List {words.plural}
              </button>
            </p>
          </form>
        </Card>
        {items !== undefined && (
          <Card class="flush" title={words.title} note={amount(items.length, kind)}>
            {items.length > 8 && (
              <label class="search inside">
                <span class="hidden">Filter {words.plural}</span>
                <Icon name="search" />
                <input
                  type="search"
                  placeholder="Filter"
                  value={filter}
                  onInput={({ currentTarget }) => setFilter(currentTarget.value)}
                />
              </label>
            )}
            <ul class="choices tall">
              {shown.slice(0, 300).map((each) => (
                <li key={each.name}>
                  <button
                    type="button"
                    aria-pressed={each.name === chosen}
                    onClick={() => choose(each)}
                  >
                    <span class="choice-title">
                      <Text>{each.name}</Text>
                    </span>
                    <span class="sub soft clamp">
                      <Text>{each.description.slice(0, 200)}</Text>
                    </span>
                  </button>
                </li>
              ))}
            </ul>
            {items.length === 0 && <Empty title={`This caller sees no ${kind}`} />}
          </Card>
        )}
        <Card class="slim">
          <form
            class="inline end"
            onSubmit={(event) => {
              event.preventDefault();
              const another = unlisted(other.trim());
              if (another !== undefined) choose(another);
            }}
          >
            <label class="field grow">
              <span class="label">Another {kind}</span>
              <input
                class="mono"
                spellcheck={false}
                placeholder={kind === "resource" ? "URI" : "name"}
                value={other}
                onInput={({ currentTarget }) => setOther(currentTarget.value)}
              />
            </label>
            <button type="submit" class="button">
              Choose
            </button>
          </form>
        </Card>
        <History
          calls={calls}
          onChoose={(past) => {
            setChosen(past.item);
            setValue(past.value);
            setResult(past.result);
            setVerdict(undefined);
          }}
        />
      </div>
      <div class="stack">
        {item === undefined ? (
          result === undefined && (
            <Card>
              <Empty
                icon="tools"
                title={items === undefined ? `No ${words.plural} listed yet` : `Choose a ${kind}`}
              >
                The list shows exactly the {words.plural} that this caller may use.
              </Empty>
            </Card>
          )
        ) : (
          <ItemForm
            key={`${item.name} ${calls.length}`}
            kind={kind}
            item={item}
            value={value}
            isBusy={isBusy}
            onChange={setValue}
            onCall={() => void call()}
            onDecide={() => void decide()}
          />
        )}
        <div class="stack" aria-live="polite">
          {isBusy && <Loading what="Waiting" />}
          {result !== undefined && !isBusy && <CallResult result={result} />}
          {asked !== undefined && !isBusy && (
            <Questions
              key={calls.length}
              questions={asked.questions}
              isBusy={isBusy}
              onRespond={(inputResponses) =>
                void call({
                  inputResponses,
                  ...(asked.state !== undefined && { requestState: asked.state }),
                })
              }
            />
          )}
          {verdict !== undefined && <VerdictView verdict={verdict} />}
        </div>
      </div>
    </div>
  );
}

function CallResult({ result }: { result: TryResult }) {
  const { response, noted, problem } = result;
  return (
    <Card
      class="result"
      title="Result"
      note={noted === undefined ? undefined : <Noted noted={noted} />}
    >
      {problem !== undefined && <Problem>{problem}</Problem>}
      {response !== undefined && (
        <>
          <p class="detail-head">
            <StatusPill status={response.status} />{" "}
            {isFailure(response.body) && <Pill tone="bad">the tool failed</Pill>}
          </p>
          <ToolResult body={response.body} />
          {response.isCut && <p class="soft">There is more, or it did not end in time.</p>}
        </>
      )}
      {noted !== undefined && <Notes notes={noted.notes} />}
    </Card>
  );
}

function isFailure(body: string): boolean {
  const message = parsed(body);
  if (!isMembers(message)) return true;
  return (
    message.error !== undefined || (isMembers(message.result) && message.result.isError === true)
  );
}
