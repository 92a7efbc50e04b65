type Eventually<Value> = Value | Promise<Value>;
type Nothing = void;
interface ValueTypes {
    readonly string: string;
    readonly number: number;
    readonly integer: number;
    readonly boolean: boolean;
    readonly strings: readonly string[];
}
export type ValueType = keyof ValueTypes;
export interface PolicyOption {
    readonly type: ValueType;
    readonly description?: string;
    readonly default?: string | number | boolean | readonly string[];
    readonly required?: boolean;
    readonly enum?: readonly string[];
    readonly pattern?: string;
    readonly minimum?: number;
    readonly maximum?: number;
    readonly secret?: boolean;
}
export type PolicyOptions = {
    readonly [name: string]: PolicyOption;
};
type OptionValue<Option> = Option extends {
    readonly enum: readonly (infer Word)[];
} ? Word : Option extends {
    readonly type: infer Type extends ValueType;
} ? ValueTypes[Type] : never;
type CertainNames<Options> = {
    [Name in keyof Options]: Options[Name] extends {
        readonly default: unknown;
    } | {
        readonly required: true;
    } ? Name : never;
}[keyof Options];
export type OptionValues<Options extends PolicyOptions> = {
    readonly [Name in CertainNames<Options>]: OptionValue<Options[Name]>;
} & {
    readonly [Name in Exclude<keyof Options, CertainNames<Options>>]?: OptionValue<Options[Name]> | undefined;
};
export type ProvidedTypes = {
    readonly [name: string]: ValueType;
};
export type ProvidedValues<Provides extends ProvidedTypes> = [keyof Provides] extends [never] ? never : {
    readonly [Name in keyof Provides]?: ValueTypes[Provides[Name]] | undefined;
};
export interface PolicyHeaders {
    get(name: string): string | null;
    has(name: string): boolean;
    set(name: string, value: string): void;
    append(name: string, value: string): void;
    delete(name: string): void;
}
export interface PolicyRefusal {
    readonly status: number;
    readonly message: string;
    readonly headers: Readonly<Record<string, string>>;
}
export type PolicyJson = {
    readonly [name: string]: unknown;
};
export interface PolicyRequest {
    readonly method: string;
    readonly url: string;
    readonly path: string;
    readonly host: string;
    readonly headers: PolicyHeaders;
    readonly clientAddress: string;
    readonly jwt: PolicyJson | null;
    readonly apiKey: PolicyJson | null;
    readonly user: string | null;
    readonly custom: PolicyJson;
    readonly signal: AbortSignal;
    refuse(status: number, message: string, headers?: Readonly<Record<string, string>>): PolicyRefusal;
}
export interface PolicyToolCall {
    readonly tool: string;
    readonly arguments: PolicyJson;
}
export interface PolicyToolResult {
    readonly tool: string;
    readonly result: PolicyJson;
}
export interface PolicyTool {
    readonly name: string;
    readonly [field: string]: unknown;
}
export interface PolicyText {
    readonly role: string;
    readonly text: string;
}
export interface PolicyTexts {
    readonly texts: readonly PolicyText[];
}
export interface PolicyStreams {
    readonly writable: WritableStream<Uint8Array>;
    readonly readable: ReadableStream<Uint8Array>;
}
export interface PolicyConnection {
    readonly clientAddress: string;
    readonly clientPort: number;
    readonly serverName: string | null;
    firstBytes(count: number): Promise<Uint8Array<ArrayBuffer>>;
    refuse(message: string): PolicyRefusal;
}
export interface PolicyResponse {
    status: number;
    readonly headers: PolicyHeaders;
    readonly request: PolicyRequest;
}
export interface PolicyDefinition<Options extends PolicyOptions, Provides extends ProvidedTypes> {
    readonly options?: Options;
    readonly provides?: Provides;
    readonly identity?: true;
    request?(request: PolicyRequest, options: OptionValues<NoInfer<Options>>): Eventually<ProvidedValues<NoInfer<Provides>> | PolicyRefusal | Nothing>;
    response?(response: PolicyResponse, options: OptionValues<NoInfer<Options>>): void;
    toolCall?(call: PolicyToolCall, options: OptionValues<NoInfer<Options>>, request: PolicyRequest): Eventually<PolicyRefusal | Nothing>;
    toolResult?(call: PolicyToolResult, options: OptionValues<NoInfer<Options>>, request: PolicyRequest): Eventually<PolicyJson | PolicyRefusal | Nothing>;
    toolList?(tools: readonly PolicyTool[], options: OptionValues<NoInfer<Options>>, request: PolicyRequest): Eventually<readonly PolicyTool[] | PolicyRefusal | Nothing>;
    requestBody?(body: Uint8Array<ArrayBuffer>, options: OptionValues<NoInfer<Options>>, request: PolicyRequest): Eventually<Uint8Array | string | PolicyRefusal | Nothing>;
    prompt?(prompt: PolicyTexts, options: OptionValues<NoInfer<Options>>, request: PolicyRequest): Eventually<readonly string[] | PolicyRefusal | Nothing>;
    completion?(completion: PolicyTexts, options: OptionValues<NoInfer<Options>>, request: PolicyRequest): Eventually<readonly string[] | PolicyRefusal | Nothing>;
    responseBody?(body: Uint8Array<ArrayBuffer>, options: OptionValues<NoInfer<Options>>, response: PolicyResponse): Eventually<Uint8Array | string | PolicyRefusal | Nothing>;
    responseStream?(response: PolicyResponse, options: OptionValues<NoInfer<Options>>): PolicyStreams | PolicyRefusal | Nothing;
    connect?(connection: PolicyConnection, options: OptionValues<NoInfer<Options>>): Eventually<PolicyRefusal | Nothing>;
}
export declare function definePolicy<const Options extends PolicyOptions = Readonly<Record<never, never>>, const Provides extends ProvidedTypes = Readonly<Record<never, never>>>(policy: PolicyDefinition<Options, Provides>): PolicyDefinition<Options, Provides>;
export {};
