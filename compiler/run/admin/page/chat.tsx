import { useRef, useState } from "preact/hooks";
import type { SeenRequest, TryData } from "../api/admin-api.ts";
import type { PageProps } from "./app.tsx";
import { type ChatMessage, readChat, streamChat } from "./chat-stream.ts";
import { getJson, messageOf } from "./data.ts";
import { count, dollars, duration, joined, visible } from "./format.ts";
import { Icon } from "./icons.tsx";
import { Card, Empty, Problem, Text } from "./parts.tsx";
import { RouteChoice } from "./route-choice.tsx";
import { SenderFields, useSender } from "./sender.tsx";

/** A chat with a model through the gateway. */
export function ChatPage(props: PageProps) {
  return (
    <RouteChoice
      {...props}
      title="Models"
      about="A chat through the gateway's own port, with guards, budgets and limits like any client's."
      page="chat"
      kind="model"
      empty={
        <Empty icon="chat" title="No route serves models">
          A route with an <code>ai</code> backend appears here: see{" "}
          <code>gwc explain guide models</code>.
        </Empty>
      }
    >
      {(route) => <Chat key={route.id} route={route} />}
    </RouteChoice>
  );
}

interface Turn extends ChatMessage {
  readonly facts?: string;
  readonly problem?: string;
}

function Chat({ route }: { route: TryData }) {
  const sender = useSender(route, completionsPath(route.target));
  const [model, setModel] = useState(route.models[0] ?? "");
  const [system, setSystem] = useState("");
  const [temperature, setTemperature] = useState("");
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [text, setText] = useState("");
  const running = useRef<AbortController>(undefined);
  const [isBusy, setBusy] = useState(false);
  const send = async () => {
    if (text.trim() === "" || isBusy) return;
    const asked: readonly Turn[] = [...turns, { role: "user", content: text }];
    setText("");
    setBusy(true);
    let reply: Turn = { role: "assistant", content: "" };
    const show = (next: Partial<Turn>) => {
      reply = { ...reply, ...next };
      setTurns([...asked, reply]);
    };
    show({});
    running.current = new AbortController();
    const began = performance.now();
    let first: number | undefined;
    const messages = asked
      .filter(({ content, problem }) => content !== "" && problem === undefined)
      .map(({ role, content }) => ({ role, content }));
    const body = JSON.stringify({
      ...(model !== "" && { model }),
      messages: system === "" ? messages : [{ role: "system", content: system }, ...messages],
      stream: true,
      stream_options: { include_usage: true },
      ...(temperature !== "" && { temperature: Number(temperature) }),
    });
    try {
      const request = sender.request(true, "POST", body);
      const streamed = await streamChat(request, running.current.signal);
      const problem = await readChat(streamed, (piece) => {
        first ??= performance.now() - began;
        show({ content: reply.content + piece });
      });
      if (problem !== undefined) show({ problem });
      const took = performance.now() - began;
      show({ facts: await factsOf(streamed.port, { first, took }) });
    } catch (error) {
      if (!running.current.signal.aborted) show({ problem: messageOf(error) });
      else show({ facts: "stopped" });
    }
    setBusy(false);
  };
  return (
    <div class="split">
      <Card title="Request" note={visible(route.origin)}>
        <label class="field">
          <span class="label">Model</span>
          <input
            list="models"
            spellcheck={false}
            value={model}
            placeholder="name that clients use"
            onInput={({ currentTarget }) => setModel(currentTarget.value)}
          />
          <datalist id="models">
            {route.models.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
        </label>
        <label class="field">
          <span class="label">System prompt</span>
          <textarea
            rows={3}
            value={system}
            onInput={({ currentTarget }) => setSystem(currentTarget.value)}
          />
        </label>
        <label class="field">
          <span class="label">
            Temperature <small>empty: the provider's</small>
          </span>
          <input
            type="number"
            min="0"
            max="2"
            step="0.1"
            value={temperature}
            onInput={({ currentTarget }) => setTemperature(currentTarget.value)}
          />
        </label>
        <SenderFields route={route} sender={sender} />
        {turns.length > 0 && (
          <p class="buttons">
            <button type="button" class="button" disabled={isBusy} onClick={() => setTurns([])}>
              New chat
            </button>
          </p>
        )}
      </Card>
      <Card class="chat" title="Chat">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: readers without a mouse scroll it with the arrow keys. */}
        <div class="turns" role="log" aria-label="Messages" tabIndex={0}>
          {turns.length === 0 && (
            <Empty icon="chat" title="Say something">
              The response is streamed as a client would get it.
            </Empty>
          )}
          {turns.map((turn, index) => (
            <Message key={index} turn={turn} isOpen={isBusy && index === turns.length - 1} />
          ))}
        </div>
        <form
          class="compose"
          onSubmit={(event) => {
            event.preventDefault();
            void send();
          }}
        >
          <label class="grow">
            <span class="hidden">Message</span>
            <textarea
              rows={2}
              placeholder="Message"
              value={text}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
                event.preventDefault();
                void send();
              }}
            />
          </label>
          {isBusy ? (
            <button type="button" class="button" onClick={() => running.current?.abort()}>
              <Icon name="stop" /> Stop
            </button>
          ) : (
            <button type="submit" class="button primary" disabled={text.trim() === ""}>
              <Icon name="send" /> Send
            </button>
          )}
        </form>
      </Card>
    </div>
  );
}

function Message({ turn, isOpen }: { turn: Turn; isOpen: boolean }) {
  const { role, content, facts, problem } = turn;
  return (
    <article class={`turn ${role}`} aria-label={role === "user" ? "You" : "Model"}>
      {paragraphs(content).map((part, index) =>
        part.isCode ? (
          <pre key={index} class="block">
            {visible(part.text)}
          </pre>
        ) : (
          <p key={index} class="said">
            <Text>{part.text}</Text>
          </p>
        ),
      )}
      {isOpen && <span class="caret" aria-hidden="true" />}
      {problem !== undefined && <Problem>{problem}</Problem>}
      {facts !== undefined && facts !== "" && <p class="turn-facts soft">{facts}</p>}
    </article>
  );
}

/** Splits a text at fences of code. */
function paragraphs(text: string): readonly { readonly text: string; readonly isCode: boolean }[] {
  return text.split("```").flatMap((part, index) => {
    const isCode = index % 2 === 1;
    const shown = isCode ? part.replace(/^\w*\n/, "") : part;
    return shown.trim() === "" ? [] : [{ text: shown.trim(), isCode }];
  });
}

function completionsPath(target: string): string {
  const [path = ""] = target.split("?");
  if (path.endsWith("/chat/completions")) return target;
  return `${path.replace(/\/(?:v1)?\/?$/, "")}/v1/chat/completions`;
}

/** Milliseconds until the first piece, `undefined` if none came, and until the end, as the page saw them. */
interface Times {
  readonly first: number | undefined;
  readonly took: number;
}

/** Returns facts about the call: tokens and cost, as the gateway noted them, and times. */
async function factsOf(port: number, { first, took }: Times): Promise<string> {
  try {
    const noted = await getJson<SeenRequest>(`request?port=${port}`);
    const notes = new Map(noted.notes);
    const facts = [
      notes.get("gen_ai.provider.name"),
      notes.get("gen_ai.response.model"),
      tokens(notes.get("gen_ai.usage.input_tokens"), "in"),
      tokens(notes.get("gen_ai.usage.output_tokens"), "out"),
      notes.has("gen_ai.cost") ? dollars(Number(notes.get("gen_ai.cost"))) : undefined,
      first === undefined ? undefined : `first token ${duration(first)}`,
      `took ${duration(took)}`,
      noted.reason,
    ];
    return visible(joined(facts));
  } catch {
    return "";
  }
}

function tokens(text: string | undefined, what: string): string | undefined {
  return text === undefined ? undefined : `${count(Number(text))} tokens ${what}`;
}
