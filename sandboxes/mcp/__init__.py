"""Tool servers that speak the Model Context Protocol, as a sandbox."""

from sandboxes.mcp.sandbox import McpSandbox
from sandboxes.mcp.servers import KNOWN_SERVERS, McpServer, ServerChoice

__all__ = ["KNOWN_SERVERS", "McpSandbox", "McpServer", "ServerChoice"]
