/** Which names a file of the workspace can have. */

/** Why a study cannot be saved there; null if it can. */
export function nameProblem(path: string): string | null {
  const trimmed = path.trim();
  if (trimmed === "") return "Enter a name, such as my-network.yaml.";
  if (trimmed.startsWith("/") || /^[A-Za-z]:/.test(trimmed)) return "The name is relative to the workspace: it cannot begin with a slash.";
  if (trimmed.split("/").some((part) => part === ".." || part === "." || part === "")) return "The file must be in the workspace: no '..', and no empty part.";
  if (!/\.(ya?ml|mn|py)$/.test(trimmed)) return "The name has to end in .yaml (a study), .mn (MiniEdit) or .py (Mininet).";
  if (/[\\:*?"<>|]/.test(trimmed)) return 'A name cannot contain any of \\ : * ? " < > |';
  return null;
}
