import { Empty } from "../listing/loaded.tsx";
import { PageTitle } from "../status/page-title.tsx";

/** For an address that leads nowhere. */
export function NoPage() {
  return (
    <>
      <PageTitle>No such page</PageTitle>
      <h1>No such page</h1>
      <Empty action={<a href="/">To the first page</a>}>This address leads to no page of the console.</Empty>
    </>
  );
}
