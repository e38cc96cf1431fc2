/**
 * The part of jsdom that the tests use. Vitest imports the types of jsdom where they are installed, and they would give
 * every project with tests the names of a browser.
 */
declare module "jsdom" {
  export interface JsdomOptions {
    readonly url: string;
    readonly pretendToBeVisual: boolean;
  }
  export class JSDOM {
    constructor(html: string, options: JsdomOptions);
    readonly window: Window & typeof globalThis;
    reconfigure(settings: { readonly url: string }): void;
  }
}
