import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { visible } from "./format.ts";
import { Icon, type IconName } from "./icons.tsx";

/** Tone of a pill, which is never the only sign: it has words, too. */
export type Tone = "good" | "bad" | "warn" | "plain" | "accent";

/** A short state in words, on a colored ground. */
export function Pill({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`pill ${tone}`}>{children}</span>;
}

/** A text that others chose: hidden characters are escaped. */
export function Text({ children }: { children: string }) {
  return <>{visible(children)}</>;
}

/** Code that others chose. */
export function Code({ children }: { children: string }) {
  return <code>{visible(children)}</code>;
}

/** A text with code between backquotes. */
export function Quoted({ children }: { children: string }) {
  return (
    <>
      {children
        .split("`")
        .map((part, index) =>
          index % 2 === 1 ? <Code key={index}>{part}</Code> : <Text key={index}>{part}</Text>,
        )}
    </>
  );
}

interface CardProps {
  readonly title?: ComponentChildren;
  readonly note?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A part of a page with a title. */
export function Card({ title, note, actions, class: name = "", children }: CardProps) {
  const id = useId();
  if (title === undefined) return <div class={`card ${name}`}>{children}</div>;
  return (
    <section class={`card ${name}`} aria-labelledby={id}>
      <header class="card-head">
        <h2 id={id}>{title}</h2>
        {note !== undefined && <span class="soft">{note}</span>}
        {actions !== undefined && <div class="actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}

/** Head of a page. */
export function PageHead({
  title,
  about,
  children,
}: {
  title: string;
  about?: ComponentChildren;
  children?: ComponentChildren;
}) {
  return (
    <div class="page-head">
      <div>
        <h1>{title}</h1>
        {about !== undefined && <p class="about">{about}</p>}
      </div>
      {children !== undefined && <div class="actions">{children}</div>}
    </div>
  );
}

/** Says that there is nothing, and what to do. */
export function Empty({
  icon = "dot",
  title,
  children,
}: {
  icon?: IconName;
  title: string;
  children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <p class="empty-title">{title}</p>
      {children !== undefined && <p>{children}</p>}
    </div>
  );
}

/** Says why something cannot be shown. */
export function Problem({ children }: { children: string }) {
  return (
    <p class="problem" role="alert">
      <Icon name="alert" />
      <span>
        <Text>{children}</Text>
      </span>
    </p>
  );
}

/** Says that data is being read. */
export function Loading({ what = "Loading" }: { what?: string }) {
  return (
    <p class="loading" role="status">
      <span class="spinner" aria-hidden="true" />
      {what}…
    </p>
  );
}

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (readonly [Value, string])[];
  readonly onChange: (value: Value) => void;
}

/** A few options of which one is chosen. */
export function Segmented<Value extends string>({
  label,
  value,
  options,
  onChange,
}: ChoiceProps<Value>) {
  return (
    <fieldset class="segmented">
      <legend class="hidden">{label}</legend>
      {options.map(([each, text]) => (
        <button
          key={each}
          type="button"
          aria-pressed={each === value}
          onClick={() => onChange(each)}
        >
          {text}
        </button>
      ))}
    </fieldset>
  );
}

/** A labeled select. */
export function Select<Value extends string>({
  label,
  value,
  options,
  onChange,
  isQuiet = false,
}: ChoiceProps<Value> & { readonly isQuiet?: boolean }) {
  return (
    <label class={isQuiet ? "field quiet" : "field"}>
      <span class={isQuiet ? "hidden" : "label"}>{label}</span>
      <select
        value={value}
        onChange={({ currentTarget }) => {
          const found = options.find(([each]) => each === currentTarget.value);
          if (found !== undefined) onChange(found[0]);
        }}
      >
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {visible(text)}
          </option>
        ))}
      </select>
    </label>
  );
}

interface SearchProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (words: string) => void;
}

/** A field for words that filter a list. */
export function SearchField({ label, placeholder, value, onChange }: SearchProps) {
  return (
    <label class="search">
      <span class="hidden">{label}</span>
      <Icon name="search" />
      <input
        type="search"
        placeholder={placeholder}
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
    </label>
  );
}

/** A name and its value, which others chose; `null` if there is none. */
export type Fact = readonly [name: string, value: string | null];

/** Lists facts, without those that have no value. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) =>
        value === null || value === "" ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Text>{value}</Text>
            </dd>
          </div>
        ),
      )}
    </dl>
  );
}

/** A wide table, which scrolls in itself on narrow screens. */
export function Table({
  label,
  class: name,
  children,
}: {
  label: string;
  class?: string;
  children: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table is no set of fields.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: readers without a mouse scroll it with the arrow keys.
    <div class="scroll" role="group" tabIndex={0} aria-label={label}>
      <table class={name}>{children}</table>
    </div>
  );
}

/** Copies a text. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      onClick={() => void navigator.clipboard?.writeText(text)}
    >
      <Icon name="copy" />
    </button>
  );
}
