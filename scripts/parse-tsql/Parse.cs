// Reads T-SQL with Microsoft's own parser and prints what it does not accept: FILE..
//
// The newest grammar that the assembly has: that of SQL Server 2019, with quoted identifiers on. Beyond what the
// parser checks, DBCC is checked against the commands that are documented, since the parser takes any word for one;
// and the text given to sp_executesql is parsed too. Names of tables and columns are not looked up: that
// takes a server.

using System;
using System.Collections.Generic;
using System.IO;
using Microsoft.SqlServer.TransactSql.ScriptDom;

static class Parse
{
    static int Main(string[] files)
    {
        var errors = 0;
        foreach (var file in files)
            errors += new Reader(file).Read(File.ReadAllText(file), 1);
        return errors > 0 ? 1 : 0;
    }
}

class Reader : TSqlFragmentVisitor
{
    // MicrosoftDocs/sql-docs, docs/t-sql/database-console-commands/dbcc-transact-sql.md (read 2026-11-21), without
    // the one that unloads a DLL.
    static readonly HashSet<string> Documented = new HashSet<string>(StringComparer.OrdinalIgnoreCase)
    {
        "CHECKALLOC", "CHECKCATALOG", "CHECKCONSTRAINTS", "CHECKDB", "CHECKFILEGROUP", "CHECKIDENT", "CHECKTABLE",
        "CLEANTABLE", "CLONEDATABASE", "DBREINDEX", "DROPCLEANBUFFERS", "FLUSHAUTHCACHE", "FREEPROCCACHE",
        "FREESESSIONCACHE", "FREESYSTEMCACHE", "HELP", "INDEXDEFRAG", "INPUTBUFFER", "OPENTRAN", "OUTPUTBUFFER",
        "PROCCACHE", "SHOW_STATISTICS", "SHOWCONTIG", "SHRINKDATABASE", "SHRINKFILE", "SQLPERF", "TRACEOFF", "TRACEON",
        "TRACESTATUS", "UPDATEUSAGE", "USEROPTIONS",
    };

    readonly string file;
    int line;
    int errors;

    public Reader(string file) { this.file = file; }

    // `first` is the line of the file that the text begins on. Gives the number of errors.
    public int Read(string text, int first)
    {
        line = first;
        IList<ParseError> found;
        var fragment = new TSql150Parser(true).Parse(new StringReader(text), out found);
        foreach (var error in found)
            Tell(error.Line, error.Column, error.Number, error.Message);
        if (fragment != null)
            fragment.Accept(this);
        return errors;
    }

    void Tell(int line, int column, int number, string message)
    {
        errors += 1;
        Console.WriteLine("{0}:{1}:{2}: {3} {4}", file, this.line + line - 1, column, number, message);
    }

    public override void Visit(DbccStatement statement)
    {
        // A word that is not a command of the parser is taken for the name of a DLL.
        var name = statement.DllName ?? statement.Command.ToString();
        // Enumerations have ShowStatistics for SHOW_STATISTICS.
        if (!Documented.Contains(name) && name != "ShowStatistics")
            Tell(statement.StartLine, statement.StartColumn, 0, "DBCC " + name + " is not documented");
    }

    public override void Visit(ExecutableProcedureReference procedure)
    {
        var name = procedure.ProcedureReference?.ProcedureReference?.Name?.BaseIdentifier?.Value;
        if (!"sp_executesql".Equals(name, StringComparison.OrdinalIgnoreCase) || procedure.Parameters.Count == 0)
            return;
        var text = procedure.Parameters[0].ParameterValue as StringLiteral;
        if (text != null)
            errors += new Reader(file).Read(text.Value, line + text.StartLine - 1);
    }
}
