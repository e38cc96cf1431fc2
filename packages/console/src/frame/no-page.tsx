import { Empty } from "../listing/loaded.tsx";

/** For an address that leads nowhere. */
export function NoPage() {
  return (
    <>
      <title>No such page · Posthaste</title>
      <h1>No such page</h1>
      <Empty action={<a href="/">To the first page</a>}>This address leads to no page of the console.</Empty>
    </>
  );
}
