import { useState } from "preact/hooks";
import type { TryData } from "../api/admin-api.ts";
import type { PageProps } from "./app.tsx";
import { messageOf, postJson } from "./data.ts";
import { amount, visible } from "./format.ts";
import { Icon } from "./icons.tsx";
import { Card, Empty, Loading, Pill, Problem, Select, Text } from "./parts.tsx";
import { History, Noted, Notes, type PastCall, StatusPill, VerdictView } from "./result.tsx";
import { RouteChoice } from "./route-choice.tsx";
import { firstMembers, isMembers, type JsonMembers, parsed } from "./schema-form.tsx";
import {
  type McpMessage,
  SenderFields,
  type TryResult,
  useSender,
  type Verdict,
} from "./sender.tsx";
import { type Tool, ToolForm } from "./tool-form.tsx";
import { ToolResult } from "./tool-result.tsx";

interface ToolCall extends PastCall {
  readonly tool: string;
  readonly value: JsonMembers;
  readonly result: TryResult;
}

/** Lists the tools of an MCP route and calls them. */
export function ToolsPage(props: PageProps) {
  return (
    <RouteChoice
      {...props}
      title="MCP tools"
      about="Lists the tools that a caller may use, and calls them through the gateway's own port."
      page="tools"
      kind="mcp"
      empty={
        <Empty icon="tools" title="No route speaks MCP">
          A route with <code>mcp</code> targets appears here: see <code>gwc explain guide mcp</code>
          .
        </Empty>
      }
    >
      {(route) => <Playground key={route.id} route={route} />}
    </RouteChoice>
  );
}

const ERAS = [
  ["sessions", "sessions (2025-06-18)"],
  ["stateless", "no sessions (2026-07-28)"],
] as const;

function Playground({ route }: { route: TryData }) {
  const sender = useSender(route);
  const [era, setEra] = useState<(typeof ERAS)[number][0]>("sessions");
  const [tools, setTools] = useState<readonly Tool[]>();
  const [chosen, setChosen] = useState("");
  const [words, setWords] = useState("");
  const [other, setOther] = useState("");
  const [value, setValue] = useState<JsonMembers>({});
  const [isBusy, setBusy] = useState(false);
  const [result, setResult] = useState<TryResult>();
  const [verdict, setVerdict] = useState<Verdict>();
  const [calls, setCalls] = useState<readonly ToolCall[]>([]);
  const tool = tools?.find(({ name }) => name === chosen) ?? unlisted(chosen);
  const choose = (next: Tool) => {
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
    const listed = await send({ method: "tools/list", params: {} });
    const found = toolsIn(listed.response?.body ?? "");
    setTools(found);
    const [first] = found ?? [];
    if (first !== undefined) choose(first);
    setResult(found === undefined ? listed : undefined);
  };
  const call = async () => {
    const params = { name: chosen, arguments: value };
    const called = await send({ method: "tools/call", params });
    setResult(called);
    const status = called.response?.status;
    const isGood = status === 200 && !isFailure(called.response?.body ?? "");
    const note =
      status === undefined ? "failed" : isGood ? "ok" : status === 200 ? "error" : `${status}`;
    const past = {
      at: Date.now(),
      title: chosen,
      tool: chosen,
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
      const message = { method: "tools/call", params: { name: chosen } };
      setVerdict(
        await postJson<Verdict>("can", { ...sender.request(false, "POST", ""), mcp: message }),
      );
    } catch (error) {
      setVerdict({ problem: messageOf(error) });
    }
  };
  const shown = (tools ?? []).filter(({ name, description }) =>
    `${name} ${description}`.toLowerCase().includes(words.toLowerCase()),
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
                <Icon name="refresh" /> List tools
              </button>
            </p>
          </form>
        </Card>
        {tools !== undefined && (
          <Card class="flush" title="Tools" note={amount(tools.length, "tool")}>
            {tools.length > 8 && (
              <label class="search inside">
                <span class="hidden">Filter tools</span>
                <Icon name="search" />
                <input
                  type="search"
                  placeholder="Filter"
                  value={words}
                  onInput={({ currentTarget }) => setWords(currentTarget.value)}
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
            {tools.length === 0 && <Empty title="This caller sees no tool" />}
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
              <span class="label">Another tool</span>
              <input
                class="mono"
                spellcheck={false}
                placeholder="name"
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
            setChosen(past.tool);
            setValue(past.value);
            setResult(past.result);
            setVerdict(undefined);
          }}
        />
      </div>
      <div class="stack">
        {tool === undefined ? (
          result === undefined && (
            <Card>
              <Empty
                icon="tools"
                title={tools === undefined ? "No tools listed yet" : "Choose a tool"}
              >
                The list shows exactly the tools that this caller may call.
              </Empty>
            </Card>
          )
        ) : (
          <ToolForm
            key={`${tool.name} ${calls.length}`}
            tool={tool}
            value={value}
            isBusy={isBusy}
            onChange={setValue}
            onCall={() => void call()}
            onDecide={() => void decide()}
          />
        )}
        <div aria-live="polite">
          {isBusy && <Loading what="Waiting" />}
          {result !== undefined && !isBusy && <CallResult result={result} />}
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

/** A tool that the caller typed by its name: rules decide about it, too. */
function unlisted(name: string): Tool | undefined {
  if (name === "") return undefined;
  return { name, title: "", description: "Not in the list of this caller.", schema: {} };
}

function isFailure(body: string): boolean {
  const message = parsed(body);
  if (!isMembers(message)) return true;
  return (
    message.error !== undefined || (isMembers(message.result) && message.result.isError === true)
  );
}

/** Returns the tools of a response; `undefined` if it is no list. */
function toolsIn(body: string): readonly Tool[] | undefined {
  const message = parsed(body);
  const result = isMembers(message) ? message.result : undefined;
  const list = isMembers(result) ? result.tools : undefined;
  if (!Array.isArray(list)) return undefined;
  return list.filter(isMembers).flatMap(({ name, title, description, inputSchema }) =>
    typeof name === "string"
      ? [
          {
            name,
            title: typeof title === "string" ? title : "",
            description: typeof description === "string" ? description : "",
            schema: inputSchema,
          },
        ]
      : [],
  );
}
