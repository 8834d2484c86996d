/** The product's mark and name: the way to the start. */
export function Brand() {
  return (
    <a class="brand" href="/dashboard">
      <svg viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="8" />
        <path d="M9 8v16M9 16.500c5-3.500 10-3.500 10 2V24" />
        <circle cx="22.500" cy="9.500" r="3" />
      </svg>
      Harkara
    </a>
  );
}
