import { useLocation } from 'preact-iso/router';

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly { readonly href: string; readonly label: string; readonly count?: number }[];
}

/** Links between views of one thing. The address says which is open. */
export function Tabs({ label, tabs }: TabsProps) {
  const { path, url } = useLocation();
  const here = tabs.some(({ href }) => href === url) ? url : path;
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <a key={tab.href} href={tab.href} aria-current={tab.href === here ? 'page' : undefined}>
          {tab.label}
          {tab.count !== undefined && <span class="count">{tab.count}</span>}
        </a>
      ))}
    </nav>
  );
}
