declare const missing: unique symbol

export type Schema = { readonly [keyword: string]: any }
export type Optional<S> = S & { readonly [missing]: true }
type Missing<P> = { [K in keyof P]: P[K] extends { readonly [missing]: true } ? K : never }[keyof P]
export type Obj<P> = { readonly type: 'object'; readonly properties: P; readonly required: string[] }

type Named = { string: string; number: number; integer: number; boolean: boolean; null: null }
type ByType<S, T> = T extends keyof Named
  ? Named[T]
  : T extends 'array'
    ? S extends { readonly items: infer I }
      ? readonly Shaped<I>[]
      : readonly any[]
    : S extends { readonly properties: infer P }
      ? { [K in Exclude<keyof P, Missing<P>>]: Shaped<P[K]> } & { [K in Missing<P>]?: Shaped<P[K]> }
      : S extends { readonly additionalProperties: infer V }
        ? Record<string, Shaped<V>>
        : Record<string, any>

/** The type of what a schema describes. */
export type Shaped<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly anyOf: readonly (infer A)[] }
      ? A extends any
        ? Shaped<A>
        : never
      : S extends { readonly type: readonly (infer T)[] }
        ? T extends any
          ? ByType<S, T>
          : never
        : S extends { readonly type: infer T }
          ? ByType<S, T>
          : any
