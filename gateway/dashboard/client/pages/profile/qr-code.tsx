/** The gateway draws the code as SVG. Only its outlines are taken over, so no markup gets into the page. */
export function QrCode({ svg }: { readonly svg: string }) {
  const drawn = new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement;
  const paths = [...drawn.querySelectorAll('path')];
  return (
    <svg
      class="qr-code"
      viewBox={drawn.getAttribute('viewBox') ?? '0 0 1 1'}
      role="img"
      aria-label="QR code of the key below"
    >
      {paths.map((path) => {
        const outline = path.getAttribute('d') ?? '';
        return <path key={outline} d={outline} class={path.hasAttribute('stroke') ? 'dark' : 'light'} />;
      })}
    </svg>
  );
}
