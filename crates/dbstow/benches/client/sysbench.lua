-- Executes a file of pgbench's language, as far as this bench needs it: a `\set NAME random(LOW, HIGH)` or a statement a
-- line. Each statement is prepared once; values are drawn anew for each transaction.

sysbench.cmdline.options = { transaction = { "File with the transaction's text", "" } }

local function prepared(line)
   local names, binds = {}, {}
   local text = line:gsub(";$", ""):gsub(":(%w+)", function(name)
      table.insert(names, name)
      return "?"
   end)
   local statement = connection:prepare(text)
   for place in ipairs(names) do
      binds[place] = statement:bind_create(sysbench.sql.type.BIGINT)
   end
   if #binds > 0 then
      statement:bind_param(unpack(binds))
   end
   return { prepared = statement, names = names, binds = binds }
end

function thread_init()
   variables, statements = {}, {}
   -- Not local: a connection that nothing names is closed.
   connection = sysbench.sql.driver():connect()
   for line in io.lines(sysbench.opt.transaction) do
      local name, low, high = line:match("^\\set (%w+) random%((%-?%d+), (%d+)%)$")
      if name then
         table.insert(variables, { name = name, low = tonumber(low), span = tonumber(high) - tonumber(low) })
      else
         table.insert(statements, prepared(line))
      end
   end
end

function event()
   local values = {}
   for place = 1, #variables do
      local variable = variables[place]
      -- sysbench draws positive numbers only.
      values[variable.name] = variable.low + sysbench.rand.uniform(0, variable.span)
   end
   for place = 1, #statements do
      local statement = statements[place]
      for number = 1, #statement.binds do
         statement.binds[number]:set(values[statement.names[number]])
      end
      statement.prepared:execute()
   end
end
