/** Which names a file of the workspace can have. */

/** Why a study cannot be saved there, in words; null where it can. */
export function nameProblem(path: string): string | null {
  const trimmed = path.trim();
  if (trimmed === "") return "A name is needed, such as my-network.yaml.";
  if (trimmed.startsWith("/") || /^[A-Za-z]:/.test(trimmed)) return "The name is counted from the workspace's folder: it cannot begin with a slash.";
  if (trimmed.split("/").some((part) => part === ".." || part === "." || part === "")) return "The file stays in the workspace: no '..', and no empty part.";
  if (!/\.(ya?ml|mn|py)$/.test(trimmed)) return "The name has to end in .yaml (a study), .mn (MiniEdit) or .py (Mininet).";
  if (/[\\:*?"<>|]/.test(trimmed)) return 'These cannot stand in a name: \\ : * ? " < > |';
  return null;
}
